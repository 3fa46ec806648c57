import type { ComparisonCase } from "../case.ts";
import { messagesJson } from "../messages-call.ts";

export default { kind: "comparison", connections: 64, call: messagesJson, targets: ["bare", "gatehouse"] } satisfies ComparisonCase;

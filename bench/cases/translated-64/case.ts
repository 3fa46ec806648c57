import type { ComparisonCase } from "../case.ts";
import { translatedJson } from "../messages-call.ts";

export default { kind: "comparison", connections: 64, call: translatedJson, targets: ["bare", "gatehouse"] } satisfies ComparisonCase;

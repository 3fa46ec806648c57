import type { ComparisonCase } from "../case.ts";
import { chatStream } from "../chat-call.ts";

export default { kind: "comparison", connections: 64, call: chatStream(200), targets: ["bare", "gatehouse"] } satisfies ComparisonCase;

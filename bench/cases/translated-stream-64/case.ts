import type { ComparisonCase } from "../case.ts";
import { translatedStream } from "../messages-call.ts";

export default { kind: "comparison", connections: 64, call: translatedStream(20), targets: ["bare", "gatehouse"] } satisfies ComparisonCase;

import type { ComparisonCase } from "../case.ts";
import { chatJson } from "../chat-call.ts";

export default {
  kind: "comparison",
  connections: 64,
  perSecond: 1_000,
  call: chatJson,
  targets: ["direct", "bare", "gatehouse"],
  byName: true,
} satisfies ComparisonCase;

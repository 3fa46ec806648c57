import type { ComparisonCase } from "../case.ts";
import { chatJson } from "../chat-call.ts";

export default {
  kind: "comparison",
  connections: 64,
  perSecond: 100,
  call: chatJson,
  targets: ["direct", "bare", "gatehouse"],
  byName: true,
} satisfies ComparisonCase;

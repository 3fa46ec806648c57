import type { ComparisonCase } from "../case.ts";
import { chatJson } from "../chat-call.ts";

export default {
  kind: "comparison",
  connections: 64,
  call: chatJson,
  targets: ["direct", "gatehouse", "relaxed", "unrecorded"],
  byName: true,
} satisfies ComparisonCase;

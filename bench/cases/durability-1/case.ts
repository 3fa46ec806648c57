import type { ComparisonCase } from "../case.ts";
import { chatJson } from "../chat-call.ts";

export default {
  kind: "comparison",
  connections: 1,
  call: chatJson,
  targets: ["direct", "gatehouse", "relaxed", "unrecorded"],
  byName: true,
} satisfies ComparisonCase;

import type { ComparisonCase } from "../case.ts";
import { chatJson } from "../chat-call.ts";
import { governCalls } from "../everything-on.ts";

export default {
  kind: "comparison",
  connections: 64,
  call: chatJson,
  targets: ["direct", "bare", "unrecorded", "gatehouse", "peer", "litellm"],
  byName: true,
  configure: governCalls,
} satisfies ComparisonCase;

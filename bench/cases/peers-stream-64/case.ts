import type { ComparisonCase } from "../case.ts";
import { chatStream } from "../chat-call.ts";
import { governCalls } from "../everything-on.ts";

export default {
  kind: "comparison",
  connections: 64,
  call: chatStream(20),
  targets: ["direct", "bare", "unrecorded", "gatehouse", "peer", "litellm"],
  byName: true,
  configure: governCalls,
} satisfies ComparisonCase;

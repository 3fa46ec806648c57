import type { ComparisonCase } from "../case.ts";
import { governTools, statelessToolCall } from "../tool-call.ts";

export default {
  kind: "comparison",
  connections: 1,
  call: statelessToolCall,
  targets: ["direct", "bare", "gatehouse"],
  configure: governTools,
} satisfies ComparisonCase;

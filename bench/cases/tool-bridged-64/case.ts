import type { ComparisonCase } from "../case.ts";
import { governTools, bridgedToolCall } from "../tool-call.ts";

export default {
  kind: "comparison",
  connections: 64,
  call: bridgedToolCall,
  targets: ["direct", "bare", "gatehouse"],
  configure: governTools,
} satisfies ComparisonCase;

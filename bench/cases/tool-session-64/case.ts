import type { ComparisonCase } from "../case.ts";
import { governTools, sessionToolCall } from "../tool-call.ts";

export default {
  kind: "comparison",
  connections: 64,
  call: sessionToolCall,
  targets: ["direct", "bare", "gatehouse"],
  configure: governTools,
} satisfies ComparisonCase;

import { claudeThinking } from "../messages/claude-thinking.ts";

/** The family of the model in a Bedrock ID or ARN: fields beyond the common ones differ by family. */
export type ModelFamily = "claude" | "nova" | "gpt-oss" | "other";

/** How reasoning is configured. `budget`: by a number of tokens; `adaptive`: by effort, with the amount chosen by the model. */
export type ThinkingStyle = "none" | "budget" | "adaptive" | "nova" | "effort";

/** ARNs of application inference profiles do not reveal the model: they are `other`, with the common fields only. */
export function modelFamily(name: string): ModelFamily {
  if (name.includes("claude")) return "claude";
  if (name.includes("amazon.nova")) return "nova";
  if (name.includes("openai.gpt-oss")) return "gpt-oss";
  return "other";
}

export function thinkingStyle(name: string): ThinkingStyle {
  switch (modelFamily(name)) {
    case "claude":
      return claudeThinking(name);
    case "nova":
      return /nova-2/.test(name) ? "nova" : "none";
    case "gpt-oss":
      return "effort";
    default:
      return "none";
  }
}

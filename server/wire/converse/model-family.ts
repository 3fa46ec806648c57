import { claudeThinking } from "../messages/claude-thinking.ts";

/** Whose model a Bedrock id or ARN names: the fields beyond the common ones differ by family. */
export type ModelFamily = "claude" | "nova" | "gpt-oss" | "other";

/** How a model is told to reason. `budget`: by a number of tokens; `adaptive`: as it sees fit, by effort. */
export type ThinkingStyle = "none" | "budget" | "adaptive" | "nova" | "effort";

/** ARNs of application inference profiles say nothing of the model: `other`, for which only common fields are written. */
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

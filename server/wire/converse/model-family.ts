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

/** Claude reasons since 3.7, and decides for itself how long since 4.6. */
function claudeThinking(name: string): ThinkingStyle {
  if (/claude-3-7/.test(name)) return "budget";
  if (/claude-(?:instant|v\d|\d)/.test(name)) return "none";
  // claude-sonnet-4-20250514 is 4.0: what has more than two digits is a date.
  const version = /claude-[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(name);
  if (version === null) return "adaptive";
  const [major, minor] = [Number(version[1]), Number(version[2] ?? 0)];
  return major < 4 || (major === 4 && minor < 6) ? "budget" : "adaptive";
}

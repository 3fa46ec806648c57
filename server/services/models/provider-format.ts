import type { ModelEntry } from "../../directory/snapshot.ts";
import type { ConversationFormat } from "../../wire/conversation/codec.ts";

/** What of a model and its provider says how it is spoken to. */
export interface Spoken {
  readonly modelName: string;
  readonly modes: readonly string[];
  readonly provider: Pick<ModelEntry["provider"], "apiFormat">;
}

/**
 * The format a model's provider is spoken to in: the caller's own where the provider has it for this model, else the one
 * that keeps most. An OpenAI-compatible server serves the endpoints its model's modes name.
 */
export function providerFormat(model: Spoken, caller: ConversationFormat): ConversationFormat {
  switch (model.provider.apiFormat) {
    case "anthropic":
      return "messages";
    case "gemini":
      return "gemini";
    case "vertex":
      return isClaude(model.modelName) ? "messages" : "gemini";
    case "bedrock":
      return "converse";
    case "echo":
      return "chat";
    default:
      if (caller === "responses" && model.modes.includes("responses")) return "responses";
      if (caller === "completions" && model.modes.includes("completion")) return "completions";
      return model.modes.includes("chat") || !model.modes.includes("responses") ? "chat" : "responses";
  }
}

/** Models whose servers take the ceiling on output by OpenAI's newer name, and some of them by no other. */
const NEWER_CEILING = /(^|\/)(gpt-[5-9]|o\d)/;

/** What a translated chat request calls the ceiling on output: most compatible servers know the older name alone. */
export function ceilingName({
  maxTokensParameter,
  modelName,
  provider,
}: Pick<ModelEntry, "maxTokensParameter" | "modelName" | "provider">): "max_tokens" | "max_completion_tokens" {
  if (maxTokensParameter !== null) return maxTokensParameter;
  const vendorsOwn = provider.apiFormat === "azure_openai" || provider.baseUrl.startsWith("https://api.openai.com");
  return vendorsOwn || NEWER_CEILING.test(modelName) ? "max_completion_tokens" : "max_tokens";
}

/** Models of Anthropic that another vendor serves in Anthropic's format. */
function isClaude(modelName: string): boolean {
  return /(^|\/)claude-/.test(modelName);
}

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

/** Models of Anthropic that another vendor serves in Anthropic's format. */
function isClaude(modelName: string): boolean {
  return /(^|\/)claude-/.test(modelName);
}

import type { ModelEntry } from "../../../directory/snapshot.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import type { ProviderTraits } from "../../../upstreams/providers/traits.ts";
import { DEFAULT_REQUEST } from "../../../wire/conversation/default-request.ts";
import type { ConversationRequest } from "../../../wire/conversation/request.ts";
import { embeddingsBody } from "../requests/embeddings.ts";

/** The smallest request that every vendor accepts. */
const PING: ConversationRequest = {
  ...DEFAULT_REQUEST,
  turns: [{ role: "user", parts: [{ kind: "text", text: "ping" }] }],
  maxOutputTokens: 16,
};

/** The smallest request the model answers; null if there is none for its modes. */
export function probeQuestion(model: ModelEntry, traits: ProviderTraits) {
  if (model.modes.includes("embedding")) {
    const question = embeddingsBody(model, traits, ["ping"], null);
    return isRefusal(question) ? null : question;
  }
  if (!model.modes.some((mode) => mode === "chat" || mode === "responses" || mode === "completion")) return null;
  const codec = traits.codecFor(
    model,
    model.modes.includes("chat") ? "chat" : model.modes.includes("responses") ? "responses" : "completions",
  );
  if (codec.format === "completions")
    return { operation: "completions" as const, body: JSON.stringify({ model: model.modelName, prompt: "ping", max_tokens: 1 }) };
  const written = codec.writeRequest(PING, { name: model.modelName, maxOutputTokens: model.maxOutputTokens });
  return "unsupported" in written ? null : { operation: codec.format, body: JSON.stringify(written.body) };
}

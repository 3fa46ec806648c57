import { readCompletionsRequest } from "../../wire/completions/completions-request.ts";
import { readEmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { readModerationsRequest } from "../../wire/moderations/moderations-request.ts";
import { readChatRequest } from "../../wire/openai/chat-request.ts";
import { readResponsesRequest } from "../../wire/responses/responses-request.ts";

interface Endpoint {
  /** What lines of it are filed as. */
  readonly subtype: string;
  readonly modes: readonly string[];
  readonly read: (body: Uint8Array) => { readonly fields: readonly { readonly field: string; readonly message: string }[] } | object;
}

/** What a batch may ask for. */
export const BATCH_ENDPOINTS = {
  "/v1/chat/completions": { subtype: "batch_line_chat_completions", modes: ["chat", "responses"], read: readChatRequest },
  "/v1/responses": { subtype: "batch_line_responses", modes: ["responses", "chat"], read: readResponsesRequest },
  "/v1/completions": { subtype: "batch_line_completions", modes: ["completion", "chat", "responses"], read: readCompletionsRequest },
  "/v1/embeddings": { subtype: "batch_line_embeddings", modes: ["embedding"], read: readEmbeddingsRequest },
  "/v1/moderations": { subtype: "batch_line_moderations", modes: ["moderation"], read: readModerationsRequest },
} as const satisfies Record<string, Endpoint>;

export type BatchEndpoint = keyof typeof BATCH_ENDPOINTS;

export function isBatchEndpoint(text: string): text is BatchEndpoint {
  return Object.hasOwn(BATCH_ENDPOINTS, text);
}

/** What is wrong with the body of a line, as a call with it would be told. */
export function problemsOfBody(endpoint: BatchEndpoint, body: string): readonly { readonly field: string; readonly message: string }[] {
  const read = BATCH_ENDPOINTS[endpoint].read(new TextEncoder().encode(body));
  return "fields" in read ? read.fields : [];
}

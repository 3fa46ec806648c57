import type { FieldProblem } from "../../wire/document.ts";
import { readCompletionsRequest } from "../../wire/completions/completions-request.ts";
import { readEmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { readModerationsRequest } from "../../wire/moderations/moderations-request.ts";
import { readChatRequest } from "../../wire/openai/chat-request.ts";
import { readResponsesRequest } from "../../wire/responses/responses-request.ts";

interface BatchEndpointFacts {
  /** As a call of its own would be read. */
  readonly read: (bytes: Uint8Array) => object | { readonly fields: readonly FieldProblem[] };
  /** What a model has to do one of to serve it. */
  readonly modes: readonly string[];
}

/** What lines of a batch may ask for, by the path that OpenAI's clients name. */
export const BATCH_ENDPOINTS = {
  "/v1/chat/completions": { read: readChatRequest, modes: ["chat", "responses"] },
  "/v1/responses": { read: readResponsesRequest, modes: ["responses", "chat"] },
  "/v1/completions": { read: readCompletionsRequest, modes: ["completion", "chat", "responses"] },
  "/v1/embeddings": { read: readEmbeddingsRequest, modes: ["embedding"] },
  "/v1/moderations": { read: readModerationsRequest, modes: ["moderation"] },
} as const satisfies Readonly<Record<string, BatchEndpointFacts>>;

export type BatchEndpoint = keyof typeof BATCH_ENDPOINTS;

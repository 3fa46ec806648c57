import type { FieldProblem } from "../../wire/json/document.ts";
import { readCompletionsRequest } from "../../wire/completions/completions-request.ts";
import { readEmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { readModerationsRequest } from "../../wire/moderations/moderations-request.ts";
import { readMessagesRequest } from "../../wire/messages/messages-request.ts";
import { MESSAGES_VERSION } from "../../wire/messages/messages-version.ts";
import { readChatRequest } from "../../wire/openai/chat/request.ts";
import { readResponsesRequest } from "../../wire/responses/responses-request.ts";

interface Endpoint {
  /** The audit row's subtype for its lines. */
  readonly subtype: string;
  readonly modes: readonly string[];
  /** Headers that every call of this endpoint needs. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly read: (body: Uint8Array, headers: Readonly<Record<string, string>>) => { readonly fields: readonly FieldProblem[] } | object;
}

/** The endpoints that a batch may use. */
export const BATCH_ENDPOINTS = {
  "/v1/chat/completions": { subtype: "batch_line_chat_completions", modes: ["chat", "responses"], read: readChatRequest },
  "/v1/responses": { subtype: "batch_line_responses", modes: ["responses", "chat"], read: readResponsesRequest },
  "/v1/completions": { subtype: "batch_line_completions", modes: ["completion", "chat", "responses"], read: readCompletionsRequest },
  "/v1/messages": {
    subtype: "batch_line_anthropic_messages",
    modes: ["chat", "responses"],
    headers: { "anthropic-version": MESSAGES_VERSION },
    read: (body: Uint8Array, headers: Readonly<Record<string, string>>) =>
      readMessagesRequest(body, { maxTokensRequired: true, version: headers["anthropic-version"] ?? MESSAGES_VERSION }),
  },
  "/v1/embeddings": { subtype: "batch_line_embeddings", modes: ["embedding"], read: readEmbeddingsRequest },
  "/v1/moderations": { subtype: "batch_line_moderations", modes: ["moderation"], read: readModerationsRequest },
} as const satisfies Record<string, Endpoint>;

export type BatchEndpoint = keyof typeof BATCH_ENDPOINTS;

export function headersOfLines(endpoint: BatchEndpoint): Readonly<Record<string, string>> {
  const { headers = {} }: Endpoint = BATCH_ENDPOINTS[endpoint];
  return headers;
}

export function isBatchEndpoint(text: string): text is BatchEndpoint {
  return Object.hasOwn(BATCH_ENDPOINTS, text);
}

/** The problems of a line's body that a call with it and these headers would report. */
export function problemsOfBody(
  endpoint: BatchEndpoint,
  body: string,
  headers: Readonly<Record<string, string>> | null,
): readonly FieldProblem[] {
  const { read }: Endpoint = BATCH_ENDPOINTS[endpoint];
  const found = read(new TextEncoder().encode(body), { ...headersOfLines(endpoint), ...headers });
  return "fields" in found ? found.fields : [];
}

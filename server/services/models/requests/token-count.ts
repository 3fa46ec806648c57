import type { JsonObject } from "../../../kernel/json-value.ts";
import type { InboundRequest } from "../../../wire/inbound.ts";
import type { Route } from "../../../road/target.ts";
import { jsonAnswer, type WholeAnswer } from "../../../road/answer.ts";
import type { ModelRequest } from "./model-request.ts";
import type { AttemptParts } from "../routing/attempt.ts";

/** A request to count the tokens of a request, in the caller's format. */
export interface TokenCount {
  readonly inbound: InboundRequest;
  readonly operation: "count_tokens" | "gemini_count" | "responses_count";
  readonly headers: Readonly<Record<string, string>>;
  readonly query?: string;
  /** The gateway's own count, in the caller's format. */
  readonly estimate: () => JsonObject;
}

/** Whether every model that may serve the call counts tokens itself in the caller's format. */
export function isCountedByProvider(route: Route, { operation }: TokenCount, providers: AttemptParts["providers"]): boolean {
  return route.members.every(({ model }) => providers[model.provider.apiFormat]?.traits.counts(model, operation) === true);
}

export function tokenCountModelRequest({ inbound, operation, headers, query = "" }: TokenCount): ModelRequest {
  return {
    inputCharacters: 0,
    prepare(_call, model) {
      const changes = { model: model.modelName, defaultTemperature: null, defaultMaxTokens: null, systemPrompt: model.systemPrompt };
      return {
        operation,
        body: inbound.outbound(changes),
        sent: inbound.sentSettings(changes),
        stream: false,
        headers,
        query,
        streamCodec: () => null,
        streamType: null,
        // Counting is free, so nothing is metered.
        whole: (bytes) => ({ body: bytes, usage: NOTHING, outputCharacters: 0 }),
        refusal: () => null,
        dropped: [],
      };
    },
  };
}

const NOTHING = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** An estimated count, marked as such in a header. */
export function estimate(count: TokenCount): WholeAnswer {
  return jsonAnswer(count.estimate(), { "x-gw-token-count": "estimate" });
}

import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { replyObject } from "../openai/reply-object.ts";
import { plausibleCount } from "../usage.ts";

/** The usage in an answer to POST /rerank; members are null if not reported. */
export interface RankedAnswer {
  readonly inputTokens: number | null;
  readonly searchUnits: number | null;
}

/** Null if the bytes are not an answer. Cohere, Jina and vLLM call the list `results`, Voyage `data`. */
export function readRankedAnswer(bytes: Uint8Array): RankedAnswer | null {
  const body = replyObject(bytes);
  if (body === null) return null;
  const ranked = Array.isArray(body.results) ? body.results : body.data;
  if (!Array.isArray(ranked) || !ranked.every((one) => isObject(one) && typeof one.index === "number")) return null;
  const { usage, meta } = { usage: part(body, "usage"), meta: part(body, "meta") };
  const [tokens, billed] = [part(meta, "tokens"), part(meta, "billed_units")];
  return {
    inputTokens: tokenCount(usage.total_tokens ?? usage.prompt_tokens ?? billed.input_tokens ?? tokens.input_tokens),
    searchUnits: tokenCount(billed.search_units),
  };
}

function part(of: JsonObject, name: string): JsonObject {
  const value = of[name] ?? null;
  return isObject(value) ? value : {};
}

function tokenCount(value: JsonValue | undefined): number | null {
  return plausibleCount(typeof value === "number" ? value : null);
}

import type { Outbound } from "../../runtime/outbound.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { looseListOf, numberOf, objectOf } from "../../wire/openai/loose-fields.ts";
import { withoutSlash } from "../providers/send.ts";
import { CLEAR, type Engine, failed } from "../../wire/guardrail-engine.ts";
import { post } from "./post.ts";

const ADDRESS = "https://api.openai.com/v1";
const MODEL = "omni-moderation-latest";

/** OpenAI's moderation endpoint, or a compatible one. The highest score of any category counts. */
export function openaiModeration(outbound: Outbound): Engine {
  return {
    longest: 20_000,
    async ask({ endpoint, apiKey, threshold, model }, question) {
      const headers: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
      const posted = await post(
        outbound,
        `${withoutSlash(endpoint ?? ADDRESS)}/moderations`,
        headers,
        JSON.stringify({ model: model ?? MODEL, input: question.text }),
        question,
      );
      if ("verdict" in posted) return posted.verdict;
      const results = looseListOf(posted.body.results).map(objectOf);
      if (results.length === 0 || results.includes(null)) return failed("the engine gave no verdict");
      const verdicts = results.map((result) => verdictOf(result, threshold));
      if (verdicts.includes(null)) return failed("the engine gave no verdict");
      return verdicts.includes(true) ? { kind: "found", check: "toxic_content" } : CLEAR;
    },
  };
}

/** By the scores if there are any, else by the server's `flagged`; null if it sent neither. */
function verdictOf(result: JsonObject | null, threshold: number): boolean | null {
  // Servers send null for categories they do not know.
  const knownScores = Object.values(objectOf(result?.category_scores) ?? {}).filter((score) => score !== null);
  const scores = knownScores.map(numberOf);
  if (scores.includes(null)) return null;
  if (scores.length > 0) return scores.some((score) => (score ?? 0) >= threshold);
  return typeof result?.flagged === "boolean" ? result.flagged : null;
}

import type { Outbound } from "../../runtime/outbound.ts";
import { numberOf, objectOf } from "../../wire/openai/loose-fields.ts";
import { CLEAR, type Engine, type EngineValue, failed } from "../../wire/guardrail-engine.ts";
import { withoutSlash } from "../providers/send.ts";
import { postForValue } from "./post.ts";

const LANGUAGE = "en";

/** The analyzer of Microsoft Presidio. It reports where values are, in code points. */
export function presidio(outbound: Outbound): Engine {
  return {
    longest: 20_000,
    async ask({ endpoint, apiKey, threshold, entities, language }, question) {
      const posted = await postForValue(
        outbound,
        `${withoutSlash(endpoint ?? "")}/analyze`,
        apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
        JSON.stringify({ text: question.text, language: language ?? LANGUAGE, score_threshold: threshold, ...(entities && { entities }) }),
        question,
      );
      if ("verdict" in posted) return posted.verdict;
      if (!Array.isArray(posted.value)) return failed("the engine gave no verdict");
      const offsets = codePointOffsets(question.text);
      const values: EngineValue[] = [];
      for (const entry of posted.value as readonly unknown[]) {
        const { start, end, score, entity_type: type } = objectOf(entry) ?? {};
        const [from, to] = [offsets(numberOf(start)), offsets(numberOf(end))];
        if (from === null || to === null || from >= to || typeof type !== "string" || numberOf(score) === null)
          return failed("the engine gave no verdict");
        if ((numberOf(score) ?? 0) < threshold) continue;
        values.push({ value: question.text.slice(from, to), category: categoryOf(type) });
      }
      return values.length === 0 ? CLEAR : { kind: "found", check: "pii", values };
    },
  };
}

/** A name that a placeholder can have, whatever a recognizer of one's own calls its entities. */
function categoryOf(type: string): string {
  const name = type
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, "_")
    .replace(/^_/, "")
    .slice(0, 40);
  return name === "" ? "other" : name;
}

/** Finds the offset in UTF-16 units of a number of code points; null if the text has fewer. */
function codePointOffsets(text: string): (count: number | null) => number | null {
  // As a list only where the two differ.
  let offsets: number[] | null = null;
  if (/[\ud800-\udfff]/.test(text)) {
    offsets = [];
    let at = 0;
    for (const character of text) {
      offsets.push(at);
      at += character.length;
    }
    offsets.push(at);
  }
  return (count) => {
    if (count === null || !Number.isInteger(count) || count < 0) return null;
    return offsets === null ? (count <= text.length ? count : null) : (offsets[count] ?? null);
  };
}

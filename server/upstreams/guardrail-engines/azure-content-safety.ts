import type { Outbound } from "../../runtime/outbound.ts";
import { looseListOf, numberOf, objectOf } from "../../wire/openai/loose-fields.ts";
import { withoutSlash } from "../providers/send.ts";
import { CLEAR, type Engine, failed } from "../../wire/guardrail-engine.ts";
import { post } from "./post.ts";

const VERSION = "2024-09-01";
/** Severities are 0, 2, 4 or 6. */
const WORST = 6;

/** Azure AI Content Safety: harm by severity, and for input also prompt attacks (Prompt Shields). */
export function azureContentSafety(outbound: Outbound): Engine {
  return {
    // The service refuses more than 10,000 code points.
    longest: 10_000,
    async ask({ endpoint, apiKey, threshold }, question) {
      const base = `${withoutSlash(endpoint ?? "")}/contentsafety`;
      const headers: Record<string, string> = apiKey === null ? {} : { "ocp-apim-subscription-key": apiKey };
      const ask = (method: string, body: object) =>
        post(outbound, `${base}/${method}?api-version=${VERSION}`, headers, JSON.stringify(body), question);
      const [harm, shield] = await Promise.all([
        ask("text:analyze", { text: question.text, outputType: "FourSeverityLevels" }),
        question.direction === "input" ? ask("text:shieldPrompt", { userPrompt: question.text, documents: [] }) : null,
      ]);
      if ("verdict" in harm) return harm.verdict;
      if (shield !== null) {
        if ("verdict" in shield) return shield.verdict;
        const attack = objectOf(shield.body.userPromptAnalysis)?.attackDetected;
        if (typeof attack !== "boolean") return failed("the engine gave no verdict");
        if (attack) return { kind: "found", check: "prompt_injection" };
      }
      const severities = looseListOf(harm.body.categoriesAnalysis).map((entry) => numberOf(objectOf(entry)?.severity));
      if (severities.length === 0 || severities.includes(null)) return failed("the engine gave no verdict");
      return severities.some((severity) => (severity ?? 0) > 0 && (severity ?? 0) / WORST >= threshold)
        ? { kind: "found", check: "toxic_content" }
        : CLEAR;
    },
  };
}

import type { Outbound } from "../../runtime/outbound.ts";
import { CLEAR, type Engine, type EngineCheck, failed } from "../../wire/guardrail-engine.ts";
import { post } from "./post.ts";

const CHECKS: readonly EngineCheck[] = [
  "prompt_injection",
  "jailbreak",
  "pii",
  "toxic_content",
  "banned_words",
  "secrets",
  "banned_pattern",
];

/** The operator's own service: it receives `{text, direction}` and answers `{action: "allow"}` or `{action: "block", check}`. */
export function webhookEngine(outbound: Outbound): Engine {
  return {
    longest: 200_000,
    async ask({ endpoint, apiKey }, question) {
      const headers: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
      const posted = await post(
        outbound,
        endpoint ?? "",
        headers,
        JSON.stringify({ text: question.text, direction: question.direction }),
        question,
      );
      if ("verdict" in posted) return posted.verdict;
      const { action, check } = posted.body;
      if (action === "allow") return CLEAR;
      return action === "block"
        ? { kind: "found", check: CHECKS.find((known) => known === check) ?? "toxic_content" }
        : failed("the engine gave no verdict");
    },
  };
}

import type { ReplayExpectation } from "@gatehouse/contracts/ai-replay";
import { ERRORS, type ErrorCode } from "../../kernel/errors.ts";

/** The outcome of one replay of a case. `error`: the replay could not be carried out, which says nothing about the case. */
export type ReplayOutcome =
  | {
      readonly verdict: "answered";
      readonly text: string;
      readonly toolCalls: readonly string[];
      /** Whether a judge found that the answer meets the case's rubric; null if the case has none. */
      readonly meetsRubric: boolean | null;
    }
  | { readonly verdict: "refused"; readonly code: string }
  | { readonly verdict: "error"; readonly reason: string };

/** Refusals with temporary causes: exhausted limits, an unavailable upstream. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set(["no_healthy_member", "internal_error", "limits_unavailable", "directory_unavailable"]);

/** A refusal by policy counts as refused; one with a temporary cause is an error. */
export function refusedOrError(code: ErrorCode, message: string): ReplayOutcome {
  const { status } = ERRORS[code];
  return code.startsWith("upstream_") || status === 429 || status >= 500 || OF_THE_MOMENT.has(code)
    ? { verdict: "error", reason: `${code}: ${message}` }
    : { verdict: "refused", code };
}

/** How an outcome differs from what was expected; empty if it does not. */
export function deviations(expect: ReplayExpectation, outcome: Exclude<ReplayOutcome, { verdict: "error" }>): string[] {
  if (outcome.verdict !== expect.verdict)
    return [
      outcome.verdict === "refused"
        ? `It was refused (${outcome.code}), and was to be answered.`
        : `It was answered, and was to be refused${expect.code === null ? "" : ` (${expect.code})`}.`,
    ];
  if (outcome.verdict === "refused")
    return expect.code === null || expect.code === outcome.code ? [] : [`It was refused with ${outcome.code}, not ${expect.code}.`];
  const { text, toolCalls, meetsRubric } = outcome;
  const called = [...new Set(toolCalls)].sort().join(", ");
  const wanted = expect.tool_calls === null ? null : [...new Set(expect.tool_calls)].sort().join(", ");
  return [
    ...(wanted === null || wanted === called ? [] : [`It called ${called || "no tool"}, and was to call ${wanted || "none"}.`]),
    ...expect.required_texts.flatMap((one, at) => (text.includes(one) ? [] : [`Required text ${at + 1} is not in the answer.`])),
    ...expect.forbidden_texts.flatMap((one, at) => (text.includes(one) ? [`Forbidden text ${at + 1} is in the answer.`] : [])),
    ...(meetsRubric === false ? ["A judge found that the answer does not meet the rubric."] : []),
  ];
}

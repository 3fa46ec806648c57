import { type JsonObject, objectInJson } from "../../kernel/json-value.ts";

export type JudgeVerdict =
  | { readonly kind: "compliant" | "violation"; readonly reason: string | null }
  | { readonly kind: "failed"; readonly reason: string };

const VIOLATION = new Set([
  "violation",
  "violates",
  "violated",
  "violating",
  "non_compliant",
  "noncompliant",
  "not_compliant",
  "block",
  "blocked",
  "deny",
  "denied",
  "reject",
  "rejected",
  "fail",
  "failed",
  "unsafe",
]);
const COMPLIANT = new Set(["compliant", "complies", "no_violation", "allow", "allowed", "pass", "passed", "ok", "safe"]);
const WORDS = ["verdict", "decision", "result"] as const;
const BREAKS = ["violates", "violation", "violated", "blocked"] as const;
const KEEPS = ["compliant", "allowed", "allow"] as const;
const MAX_REASON_LENGTH = 500;

/**
 * Reads a judge's verdict in any of the forms that models use. A verdict counts only in a JSON object that is the
 * whole answer or that repeats the check word, which only the judge was given; so a verdict echoed from the judged
 * text does not count. A contradictory answer is a violation. Without a verdict, the result is `failed`.
 */
export function readJudgeVerdict(content: string, check: string): JudgeVerdict {
  const text = content
    .trim()
    .replace(/^```(?:json)?\s*/i, "")
    .replace(/```$/, "");
  const whole = objectInJson(text);
  if (whole !== null) {
    if (whole.check !== undefined && whole.check !== check) return { kind: "failed", reason: "the judge did not give the check word back" };
    return verdictOf([whole]);
  }
  return verdictOf(objectsWithin(text).filter((candidate) => candidate.check === check));
}

function verdictOf(objects: readonly JsonObject[]): JudgeVerdict {
  const signals = objects.flatMap(signs);
  if (signals.length === 0) return { kind: "failed", reason: "the judge gave no verdict" };
  const reason = objects.map(({ reason: words }) => words).find((words) => typeof words === "string") ?? null;
  return {
    kind: signals.includes(true) ? "violation" : "compliant",
    reason: reason === null ? null : (reason as string).slice(0, MAX_REASON_LENGTH),
  };
}

/** All verdicts in the object; true: the rule is violated. */
function signs(object: JsonObject): boolean[] {
  const found: boolean[] = [];
  for (const name of WORDS) {
    const word =
      typeof object[name] === "string"
        ? (object[name] as string)
            .trim()
            .toLowerCase()
            .replaceAll(/[\s-]+/g, "_")
        : null;
    if (word === null) continue;
    if (VIOLATION.has(word)) found.push(true);
    else if (COMPLIANT.has(word)) found.push(false);
  }
  for (const name of BREAKS) if (typeof object[name] === "boolean") found.push(object[name] as boolean);
  for (const name of KEEPS) if (typeof object[name] === "boolean") found.push(!(object[name] as boolean));
  return found;
}

/** JSON objects without nested braces within other text; verdicts have none. */
function objectsWithin(text: string): JsonObject[] {
  return [...text.matchAll(/\{[^{}]{0,4000}\}/g)].flatMap(([candidate]) => {
    const object = objectInJson(candidate);
    return object === null ? [] : [object];
  });
}

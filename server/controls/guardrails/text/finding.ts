/** The checks, by their names in configurations. */
export type GuardrailCheck = "pii" | "secrets" | "prompt_injection" | "jailbreak" | "toxic_content" | "banned_words" | "banned_pattern";

/** The action on a finding: end the call, replace the text, or only record it. */
export type GuardrailAction = "block" | "redact" | "warn";

/** A finding in a text. Offsets are UTF-16 code units from the start of the whole text; `end` is exclusive. */
export interface Finding {
  readonly check: GuardrailCheck;
  /** Within the check: `email`, `jwt`, a phrase signal's name, `banned_word` or `banned_pattern`. */
  readonly category: string;
  readonly start: number;
  readonly end: number;
  /** The detector's confidence, from 0 to 1. */
  readonly score: number;
}

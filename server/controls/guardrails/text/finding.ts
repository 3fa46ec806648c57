/** What a guardrail looks for, by the names its configuration uses. */
export type GuardrailCheck = "pii" | "secrets" | "prompt_injection" | "jailbreak" | "toxic_content" | "banned_words" | "banned_pattern";

/** What a guardrail does about a finding: end the call, replace the text, or only say so in the record. */
export type GuardrailAction = "block" | "redact" | "warn";

/** One place of a text. Offsets are UTF-16, `end` is exclusive; both count from the start of the whole text. */
export interface Finding {
  readonly check: GuardrailCheck;
  /** Within the check: `email`, `jwt`, the name of a phrase signal, `banned_word` or `banned_pattern`. */
  readonly category: string;
  readonly start: number;
  readonly end: number;
  /** How sure the detector is, from 0 to 1. */
  readonly score: number;
}

import type { GuardrailBuiltin, GuardrailSurface } from "@gatehouse/contracts/guardrails";
import type { FieldError } from "../../kernel/errors.ts";
import { largePatterns } from "./patterns/banned-patterns.ts";
import { compileTextGuard, type GuardSettings } from "./text-guard.ts";

/** The effective settings of a configuration's checks on these surfaces; null means all surfaces. */
export function guardSettingsOf(builtin: GuardrailBuiltin, here: readonly GuardrailSurface[] | null): GuardSettings {
  const on = (surfaces: readonly GuardrailSurface[] | undefined) =>
    here === null || surfaces === undefined || surfaces.some((one) => here.includes(one));
  const { banned_words: words, banned_patterns: patterns } = builtin;
  const threshold = (value: number | undefined) => (value === undefined ? {} : { threshold: value });
  return {
    ...(builtin.secrets_enabled === true && on(builtin.secrets_surfaces)
      ? {
          secrets: {
            action: builtin.secrets_action ?? "block",
            ...(builtin.secrets_categories === undefined ? {} : { categories: builtin.secrets_categories }),
          },
        }
      : {}),
    ...(builtin.pii_enabled === true && on(builtin.pii_surfaces)
      ? {
          pii: {
            action: builtin.pii_action ?? "redact",
            ...(builtin.pii_categories === undefined ? {} : { categories: builtin.pii_categories }),
            ...(builtin.pii_restore === true && { restores: true }),
            ...threshold(builtin.pii_threshold),
          },
        }
      : {}),
    ...(builtin.prompt_injection_enabled === true && on(builtin.prompt_injection_surfaces)
      ? { promptInjection: { action: builtin.prompt_injection_action ?? "block", ...threshold(builtin.prompt_injection_threshold) } }
      : {}),
    ...(builtin.jailbreak_enabled === true && on(builtin.jailbreak_surfaces)
      ? { jailbreak: { action: builtin.jailbreak_action ?? "warn", ...threshold(builtin.jailbreak_threshold) } }
      : {}),
    ...(builtin.toxic_content_enabled === true && on(builtin.toxic_content_surfaces)
      ? { toxicContent: { action: builtin.toxic_content_action ?? "block", ...threshold(builtin.toxic_content_threshold) } }
      : {}),
    ...(words !== undefined && words.length > 0 && on(builtin.banned_words_surfaces)
      ? { bannedWords: { action: builtin.banned_words_action ?? "block", words } }
      : {}),
    ...(patterns !== undefined && patterns.length > 0 && on(builtin.banned_patterns_surfaces)
      ? { bannedPatterns: { action: builtin.banned_patterns_action ?? "block", patterns } }
      : {}),
  };
}

/** The patterns that do not compile or are too expensive, as errors by field. */
export function problemsOf(builtin: GuardrailBuiltin): FieldError[] {
  const { bannedPatterns } = guardSettingsOf(builtin, null);
  if (bannedPatterns === undefined) return [];
  // Checked before compiling all together, because that takes time proportional to their size.
  const large = largePatterns(bannedPatterns.patterns);
  const guard = large.length > 0 ? null : compileTextGuard({ bannedPatterns });
  const problems = guard === null ? large : "problems" in guard ? guard.problems : [];
  return problems.map(({ index, message }) => ({ field: `builtin.banned_patterns.${index}`, message }));
}

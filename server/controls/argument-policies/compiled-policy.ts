import type { PolicyHit } from "../../directory/policies/argument-policy-entry.ts";
import type { FieldError } from "../../kernel/errors.ts";
import type { InTurns, WorkBudget } from "../../kernel/scheduling/in-turns.ts";

export interface CompiledPolicy {
  readonly id: string;
  readonly name: string;
  /** Name of the tool whose calls it judges. */
  readonly target: string;
  readonly severity: "deny" | "warn";
  /** Loads the parsers it needs. Until then everything is unparseable, so nothing is let through by being early. */
  prepare(): Promise<void>;
  /** Judges a tool call's arguments, the JSON text as the model wrote it; null when no rule holds or the key is absent. */
  judge(argumentsText: string, budget: WorkBudget): InTurns<PolicyHit | null>;
  /** What it says of a call whose arguments nobody can judge, and why. */
  unjudged(why: string): PolicyHit;
}

export type Compilation =
  | { readonly ok: true; readonly policy: CompiledPolicy }
  | { readonly ok: false; readonly fields: readonly FieldError[] };

import type { PolicyHit } from "../../directory/policies/argument-policy-entry.ts";
import type { FieldError } from "../../kernel/errors.ts";
import type { InTurns, WorkBudget } from "../../kernel/scheduling/in-turns.ts";

export interface CompiledPolicy {
  readonly id: string;
  readonly name: string;
  /** Name of the tool whose calls it judges. */
  readonly target: string;
  readonly severity: "deny" | "warn";
  /** Loads the parsers it needs. Until then everything is unparseable, so calls that arrive early are not let through. */
  prepare(): Promise<void>;
  /** Judges a tool call's arguments, given as the JSON text that the model wrote; null if no rule applies or the key is absent. */
  judge(argumentsText: string, budget: WorkBudget): InTurns<PolicyHit | null>;
  /** The hit to report for arguments that cannot be judged, with the reason. */
  unjudged(why: string): PolicyHit;
}

export type Compilation =
  | { readonly ok: true; readonly policy: CompiledPolicy }
  | { readonly ok: false; readonly fields: readonly FieldError[] };

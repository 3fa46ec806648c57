import type { ArgumentPolicyRow } from "../../store/policies/argument-policies.ts";
import type { InTurns, WorkBudget } from "../../kernel/scheduling/in-turns.ts";

/** A tool call that a policy speaks against. */
export interface PolicyHit {
  readonly policy_id: string;
  readonly policy: string;
  readonly tool: string;
  readonly argument_key: string | null;
  readonly severity: "deny" | "warn";
  /** Which of the policy's conditions holds. */
  readonly rule: string;
  /** What the caller is told. */
  readonly message: string;
}

/** A policy on the arguments of one tool's calls, ready to judge. */
export interface ToolCallPolicy {
  readonly id: string;
  /** Name of the tool whose calls it judges. */
  readonly target: string;
  readonly severity: "deny" | "warn";
  /** Judges a call's arguments, the JSON text as the model wrote it; null when it has nothing against them. Never throws. */
  judge(argumentsText: string, budget: WorkBudget): InTurns<PolicyHit | null>;
  /** What it says of a call whose arguments nobody can judge, and why. */
  unjudged(why: string): PolicyHit;
}

/** Makes a policy as it is stored ready to judge, its parsers loaded. Never fails: what cannot be compiled speaks against every call. */
export type CompileArgumentPolicy = (row: ArgumentPolicyRow) => Promise<ToolCallPolicy>;

/** A policy as a snapshot holds it. */
export interface ArgumentPolicyEntry {
  /** Another one after every change of the record. */
  readonly version: string;
  /** Null: every group. */
  readonly groupIds: readonly string[] | null;
  readonly policy: ToolCallPolicy;
}

/** Compiles what changed; `before` holds what was compiled already. */
export async function argumentPolicyEntries(
  rows: readonly ArgumentPolicyRow[],
  compile: CompileArgumentPolicy,
  before: readonly ArgumentPolicyEntry[],
): Promise<ArgumentPolicyEntry[]> {
  const known = new Map(before.map((entry) => [entry.version, entry.policy]));
  return Promise.all(
    rows.map(async (row) => {
      const { group_ids: _bound, all_groups: _everywhere, ...written } = row;
      const version = JSON.stringify(written);
      return { version, groupIds: row.all_groups ? null : row.group_ids, policy: known.get(version) ?? (await compile(row)) };
    }),
  );
}

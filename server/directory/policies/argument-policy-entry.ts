import type { ArgumentPolicyRow } from "../../store/policies/argument-policies.ts";
import type { InTurns, WorkBudget } from "../../kernel/scheduling/in-turns.ts";

/** A tool call that violates a policy. */
export interface PolicyHit {
  readonly policy_id: string;
  readonly policy: string;
  readonly tool: string;
  readonly argument_key: string | null;
  readonly severity: "deny" | "warn";
  /** The policy's condition that was violated. */
  readonly rule: string;
  /** Shown to the caller. */
  readonly message: string;
}

/** A compiled policy on the arguments of one tool's calls. */
export interface ToolCallPolicy {
  readonly id: string;
  /** The name of the tool it applies to. */
  readonly target: string;
  readonly severity: "deny" | "warn";
  /** Judges a call's arguments, given as the JSON text written by the model; null if there is no violation. Never throws. */
  judge(argumentsText: string, budget: WorkBudget): InTurns<PolicyHit | null>;
  /** The violation for a call whose arguments cannot be judged, with the reason. */
  unjudged(why: string): PolicyHit;
}

/** Compiles a stored policy and loads its parsers. Never rejects: a policy that cannot be compiled is violated by every call. */
export type CompileArgumentPolicy = (row: ArgumentPolicyRow) => Promise<ToolCallPolicy>;

/** A policy as a snapshot holds it. */
export interface ArgumentPolicyEntry {
  /** Changes whenever the record does. */
  readonly version: string;
  /** Null applies to every group. */
  readonly groupIds: readonly string[] | null;
  readonly policy: ToolCallPolicy;
}

/** Compiles only what changed since `before`. */
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

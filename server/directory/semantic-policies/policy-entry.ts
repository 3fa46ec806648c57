import type { SemanticPolicyRow } from "../../store/policies/semantic-policies.ts";

/** A semantic policy as applied to calls. */
export interface SemanticPolicyEntry {
  readonly id: string;
  readonly name: string;
  readonly constraintText: string;
  readonly action: "block" | "warn";
  readonly mode: "enforce" | "shadow";
  readonly surfaces: ReadonlySet<string>;
  /** Null uses the tenant's default, then the gateway's. */
  readonly judgeModelId: string | null;
  readonly onFailure: "block" | "allow";
  readonly timeoutMs: number;
  /** Null applies to every group. */
  readonly groupIds: ReadonlySet<string> | null;
}

export function compileSemanticPolicies(rows: readonly SemanticPolicyRow[]): SemanticPolicyEntry[] {
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    constraintText: row.constraint_text,
    action: row.action as SemanticPolicyEntry["action"],
    mode: row.mode as SemanticPolicyEntry["mode"],
    surfaces: new Set(row.surfaces),
    judgeModelId: row.judge_model_id,
    onFailure: row.on_judge_failure as SemanticPolicyEntry["onFailure"],
    timeoutMs: row.timeout_seconds * 1000,
    groupIds: row.all_groups ? null : new Set(row.group_ids),
  }));
}

/** The parts of a scope that determine its policies. */
interface PolicedScope {
  readonly chain: readonly { readonly id: string }[];
  readonly tenant: { readonly semanticPolicies: readonly SemanticPolicyEntry[] };
}

/** The policies that apply to a scope: those of its group and all ancestors. */
export function semanticPoliciesOf({ chain, tenant }: PolicedScope): readonly SemanticPolicyEntry[] {
  if (tenant.semanticPolicies.length === 0) return [];
  return tenant.semanticPolicies.filter(({ groupIds }) => groupIds === null || chain.some(({ id }) => groupIds.has(id)));
}

import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { GroupScope, TenantSnapshot } from "../../directory/snapshot.ts";

/** Whether a control stopped the call or changed its content. */
const ruleActed = (row: AuditRow): boolean =>
  row.guardrail_blocked === true ||
  row.argument_policy_denied === true ||
  (row.guardrail_check ?? null) !== null ||
  row.proxy_subtype === "semantic_policy_block" ||
  row.residency_class === "blocked" ||
  row.agent_authz_decision === "deny" ||
  row.agent_authz_decision === "approval_required";

/** What the tags of a call depend on besides its row; a call in no group has no scope. */
interface Tagged {
  readonly tenant: Pick<TenantSnapshot, "compliance"> | null;
  readonly scope: (Pick<GroupScope, "chain"> & { readonly tenant: Pick<TenantSnapshot, "compliance"> }) | null;
}

/**
 * The compliance tags of a call under its tenant's frameworks: null if the tenant has none, empty if none applies. A group inherits PHI
 * handling from the groups above it; its risk tier is the nearest one.
 */
export function complianceTags(row: AuditRow, { tenant, scope }: Tagged): string[] | null {
  const rules = (scope?.tenant ?? tenant)?.compliance ?? null;
  if (rules === null) return null;
  const chain = scope?.chain ?? [];
  const { frameworks } = rules;
  const tags: string[] = [];
  if (frameworks.has("eu_ai_act")) {
    const classified = chain.find(({ id }) => rules.tierOf.has(id));
    if (classified !== undefined) tags.push(`eu_ai_act:${rules.tierOf.get(classified.id)}_risk`);
  }
  if (frameworks.has("gdpr_art_30")) {
    if (row.pii_detected === true) tags.push("gdpr_art_30:personal_data");
    if (row.residency_class === "blocked") tags.push("gdpr_art_30:transfer_blocked");
  }
  if (frameworks.has("hipaa") && chain.some(({ id }) => rules.phiGroups.has(id))) tags.push("hipaa:phi_access");
  const acted = ruleActed(row);
  if (frameworks.has("iso_42001") && acted) tags.push("iso_42001:control_acted");
  if (frameworks.has("soc2") && acted) tags.push("soc2:control_acted");
  return tags;
}

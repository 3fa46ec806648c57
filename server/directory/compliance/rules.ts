import type { ClassifiedGroup } from "../../store/discovery/classified-groups.ts";

/** What determines the compliance tags on a tenant's rows. */
export interface ComplianceRules {
  readonly frameworks: ReadonlySet<string>;
  readonly tierOf: ReadonlyMap<string, string>;
  readonly phiGroups: ReadonlySet<string>;
}

export function complianceRulesOf(frameworks: readonly string[] | null, groups: readonly ClassifiedGroup[]): ComplianceRules | null {
  if (frameworks === null) return null;
  return {
    frameworks: new Set(frameworks),
    tierOf: new Map(groups.flatMap(({ id, eu_ai_act_risk_tier: tier }) => (tier === null ? [] : [[id, tier] as const]))),
    phiGroups: new Set(groups.filter(({ phi_resource: phi }) => phi === true).map(({ id }) => id)),
  };
}

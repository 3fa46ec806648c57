import type { Database, Trx } from "../database.ts";

export interface ClassifiedGroup {
  readonly id: string;
  readonly name: string;
  readonly eu_ai_act_risk_tier: string | null;
  readonly phi_resource: boolean | null;
}

/** Groups of a tenant that themselves have a risk tier or handle health information. */
export function readClassifiedGroups(db: Database | Trx, tenantId: string): Promise<ClassifiedGroup[]> {
  return db
    .selectFrom("resource_groups")
    .select(["id", "name", "eu_ai_act_risk_tier", "phi_resource"])
    .where("tenant_id", "=", tenantId)
    .where((eb) => eb.or([eb("eu_ai_act_risk_tier", "is not", null), eb("phi_resource", "=", true)]))
    .orderBy("id")
    .execute();
}

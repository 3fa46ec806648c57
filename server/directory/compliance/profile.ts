import { FRAMEWORKS, type ComplianceProfile } from "@gatehouse/contracts/compliance";
import type { Database, Trx } from "../../store/database.ts";
import { tenantStore } from "../../store/tenants/tenants.ts";
import { notFound } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";

/** In listing order; undefined if the tenant does not exist. */
export async function readFrameworks(db: Database | Trx, tenantId: string): Promise<ComplianceProfile["frameworks"] | undefined> {
  const row = await tenantStore.find(db, null, tenantId);
  return row === undefined ? undefined : FRAMEWORKS.filter((key) => row.compliance_frameworks?.includes(key) === true);
}

export async function getComplianceProfile(db: Database | Trx, tenantId: string): Promise<ComplianceProfile> {
  const frameworks = await readFrameworks(db, tenantId);
  if (frameworks === undefined) throw notFound("tenant");
  return { frameworks };
}

/** Replaces the whole profile. A tenant without frameworks has no profile, and its rows are no longer tagged. */
export async function setComplianceProfile(write: Write, tenantId: string, profile: ComplianceProfile): Promise<ComplianceProfile> {
  const locked = await tenantStore.find(write.trx, null, tenantId, "lock");
  if (locked === undefined) throw notFound("tenant");
  const before = await getComplianceProfile(write.trx, tenantId);
  await tenantStore.update(write.trx, tenantId, {
    compliance_frameworks: profile.frameworks.length === 0 ? null : profile.frameworks,
    updated_at: write.now,
  });
  const after = await getComplianceProfile(write.trx, tenantId);
  write.stay(before, after, before);
  write.log({ tenant_id: tenantId, action: "update", resource: "compliance-profile", resource_id: tenantId, before, after });
  write.notify(tenantId, "tenant");
  return after;
}

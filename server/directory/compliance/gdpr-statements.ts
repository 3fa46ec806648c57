import type { GdprStatements } from "@gatehouse/contracts/compliance";
import type { Database, Trx } from "../../store/database.ts";
import { tenantStore, type TenantRow } from "../../store/tenants/tenants.ts";
import { notFound } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";

const NAMES = ["controller", "data_protection_officer", "purposes", "data_subjects", "personal_data"] as const;

/** The tenant's statements; null for each one it has not made. */
export function statementsOf({ gdpr_statements: kept }: Pick<TenantRow, "gdpr_statements">): GdprStatements {
  return Object.fromEntries(NAMES.map((name) => [name, kept?.[name] ?? null])) as GdprStatements;
}

export async function getGdprStatements(db: Database | Trx, tenantId: string): Promise<GdprStatements> {
  const row = await tenantStore.find(db, null, tenantId);
  if (row === undefined) throw notFound("tenant");
  return statementsOf(row);
}

/** Replaces all statements. */
export async function setGdprStatements(write: Write, tenantId: string, statements: GdprStatements): Promise<GdprStatements> {
  const row = await tenantStore.find(write.trx, null, tenantId, "lock");
  if (row === undefined) throw notFound("tenant");
  const before = statementsOf(row);
  await tenantStore.update(write.trx, tenantId, { gdpr_statements: JSON.stringify(statements), updated_at: write.now });
  write.stay(before, statements, before);
  write.log({ tenant_id: tenantId, action: "update", resource: "gdpr-statements", resource_id: tenantId, before, after: statements });
  return statements;
}

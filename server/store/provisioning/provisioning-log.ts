import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { ProvisioningLogTable } from "../tables/provisioning.ts";

export type ProvisioningLogRow = Selectable<ProvisioningLogTable>;

export interface ProvisioningLogFilters {
  readonly source?: string | undefined;
  readonly resource_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly outcome?: string | undefined;
}

export async function appendProvisioningLog(db: Database | Trx, entry: Insertable<ProvisioningLogTable>): Promise<void> {
  await db.insertInto("provisioning_log").values(entry).execute();
}

/** Newest first. */
export async function provisioningLogPage(
  db: Database,
  tenantId: string,
  filters: ProvisioningLogFilters,
  page: Page,
): Promise<Paged<ProvisioningLogRow>> {
  let query = db.selectFrom("provisioning_log").where("tenant_id", "=", tenantId);
  for (const name of ["source", "resource_type", "resource_id", "outcome"] as const) {
    const wanted = filters[name];
    if (wanted !== undefined) query = query.where(name, "=", wanted);
  }
  return pageOfRows(query, query.selectAll().orderBy("id", "desc"), page);
}

export async function pruneProvisioningLog(db: Database, tenantId: string, before: Date): Promise<number> {
  const { numAffectedRows } =
    await sql`DELETE FROM provisioning_log WHERE tenant_id = ${tenantId} AND id < audit_id_floor(${before})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

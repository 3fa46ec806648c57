import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { DriftFindingTable } from "../tables/drift.ts";

export type FindingRow = Selectable<DriftFindingTable>;
export type FindingPatch = Updateable<DriftFindingTable>;

export interface FindingFilters {
  readonly systemId?: string | undefined;
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
}

/** Most recently seen first. */
export async function findingPage(db: Database, tenantId: string, filters: FindingFilters, page: Page): Promise<Paged<FindingRow>> {
  let query = db.selectFrom("drift_findings").where("tenant_id", "=", tenantId);
  if (filters.systemId !== undefined) query = query.where("ai_system_id", "=", filters.systemId);
  if (filters.status !== undefined) query = query.where("status", "=", filters.status);
  if (filters.kind !== undefined) query = query.where("kind", "=", filters.kind);
  return pageOfRows(query, query.selectAll().orderBy("last_seen", "desc").orderBy("id"), page);
}

export function lockedFinding(trx: Trx, tenantId: string, id: string): Promise<FindingRow | undefined> {
  return trx.selectFrom("drift_findings").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).forUpdate().executeTakeFirst();
}

/** The number of open findings by severity. */
export async function openFindings(db: Database | Trx, tenantId: string, systemId: string): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom("drift_findings")
    .select(["severity", (eb) => eb.fn.countAll<number>().as("count")])
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .where("status", "=", "open")
    .groupBy("severity")
    .execute();
  return Object.fromEntries(rows.map(({ severity, count }) => [severity, count]));
}

export function findingsOfKinds(trx: Trx, systemId: string, kinds: readonly string[]): Promise<FindingRow[]> {
  return trx
    .selectFrom("drift_findings")
    .selectAll()
    .where("ai_system_id", "=", systemId)
    .where("kind", "in", [...kinds])
    .execute();
}

export async function insertFinding(trx: Trx, values: Insertable<DriftFindingTable>): Promise<void> {
  await trx.insertInto("drift_findings").values(values).execute();
}

export async function updateFinding(trx: Trx, id: string, patch: FindingPatch): Promise<void> {
  await trx.updateTable("drift_findings").set(patch).where("id", "=", id).execute();
}

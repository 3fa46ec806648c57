import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { AssuranceSnapshotTable } from "../tables/assurance.ts";

export type SnapshotRow = Selectable<AssuranceSnapshotTable>;

/** Newest first. */
export async function snapshotPage(db: Database, tenantId: string, systemId: string, page: Page): Promise<Paged<SnapshotRow>> {
  const query = db.selectFrom("assurance_snapshots").where("tenant_id", "=", tenantId).where("ai_system_id", "=", systemId);
  return pageOfRows(query, query.selectAll().orderBy("created_at", "desc").orderBy("id"), page);
}

export function findSnapshot(db: Database | Trx, tenantId: string, systemId: string, id: string): Promise<SnapshotRow | undefined> {
  return db
    .selectFrom("assurance_snapshots")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .where("id", "=", id)
    .executeTakeFirst();
}

export async function insertSnapshot(trx: Trx, values: Insertable<AssuranceSnapshotTable>): Promise<void> {
  await trx.insertInto("assurance_snapshots").values(values).execute();
}

export async function updateSnapshot(trx: Trx, id: string, patch: Updateable<AssuranceSnapshotTable>): Promise<void> {
  await trx.updateTable("assurance_snapshots").set(patch).where("id", "=", id).execute();
}

import type { Insertable, Selectable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { BaselineEpochTable } from "../tables/drift.ts";

export type EpochRow = Selectable<BaselineEpochTable>;

export function newestEpoch(db: Database | Trx, tenantId: string, systemId: string): Promise<EpochRow | undefined> {
  return db
    .selectFrom("baseline_epochs")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .orderBy("epoch", "desc")
    .limit(1)
    .executeTakeFirst();
}

export async function epochPage(db: Database, tenantId: string, systemId: string, page: Page): Promise<Paged<EpochRow>> {
  const query = db.selectFrom("baseline_epochs").where("tenant_id", "=", tenantId).where("ai_system_id", "=", systemId);
  return pageOfRows(query, query.selectAll().orderBy("epoch", "desc"), page);
}

export async function insertEpoch(trx: Trx, values: Insertable<BaselineEpochTable>): Promise<void> {
  await trx.insertInto("baseline_epochs").values(values).execute();
}

import type { Insertable, Selectable } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { Page, Paged } from "./paging.ts";
import type { BaselineEpochTable } from "./tables/drift.ts";

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
  const items = await query.selectAll().orderBy("epoch", "desc").limit(page.limit).offset(page.offset).execute();
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { items, total };
}

export async function insertEpoch(trx: Trx, values: Insertable<BaselineEpochTable>): Promise<void> {
  await trx.insertInto("baseline_epochs").values(values).execute();
}

import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import { containing } from "./paging.ts";
import { findInTenant, type RecordStore, writesById } from "./record-store.ts";
import type { AgentTable } from "./tables/agents.ts";

export type AgentRow = Selectable<AgentTable>;
export type AgentInsert = Insertable<AgentTable>;
export type AgentPatch = Updateable<AgentTable>;

interface AgentFilters {
  readonly search?: string | undefined;
  readonly direction?: string | undefined;
}

export const agentStore: RecordStore<AgentRow, AgentInsert, AgentPatch, AgentFilters> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("agents").where("tenant_id", "=", tenantId);
    const { search, direction } = filters;
    if (direction !== undefined) query = query.where("direction", "=", direction);
    if (search !== undefined)
      query = query.where((eb) => eb.or([eb("name", "ilike", containing(search)), eb("card_name", "ilike", containing(search))]));
    const items = await query.selectAll().orderBy("card_name").limit(page.limit).offset(page.offset).execute();
    const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
    return { items, total };
  },
  find: findInTenant("agents"),
  ...writesById("agents"),
};

export async function agentNamed(db: Database | Trx, tenantId: string, cardName: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("agents")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("card_name", "=", cardName)
    .executeTakeFirst();
  return row?.id;
}

/** Agents whose cards were looked at longest ago: what a worker looks at again. */
export async function agentsToRefresh(db: Database, before: Date, most: number): Promise<{ tenant_id: string; id: string }[]> {
  return db
    .selectFrom("agents")
    .select(["tenant_id", "id"])
    .where("enabled", "=", true)
    .where((eb) => eb.or([eb("health_checked_at", "is", null), eb("health_checked_at", "<", before)]))
    .orderBy("health_checked_at", (order) => order.asc().nullsFirst())
    .limit(most)
    .execute();
}

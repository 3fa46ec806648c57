import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { AgentTable } from "../tables/agents.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";

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
    return pageOfRows(query, query.selectAll().orderBy("card_name"), page);
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

/**
 * Takes agents whose cards were last checked before `before`, taking turns between tenants, longest ago first. They count as checked at
 * `now` whatever the result, so that none is checked twice or blocks the others.
 */
export async function takeAgentsToRefresh(
  db: Database,
  { before, now }: { readonly before: Date; readonly now: Date },
  { most, mostOfOne, underWay }: TenantTurns,
): Promise<{ tenant_id: string; id: string }[]> {
  const isDue = sql`enabled AND (health_checked_at IS NULL OR health_checked_at < ${before})`;
  const { rows } = await sql<{ tenant_id: string; id: string }>`
    UPDATE agents SET health_checked_at = ${now} WHERE id IN (
      SELECT a.id FROM (SELECT id, health_checked_at FROM agents WHERE ${isDue}) a
      JOIN (
        SELECT id, coalesce(busy.n, 0) + row_number() OVER (PARTITION BY tenant_id ORDER BY health_checked_at NULLS FIRST) AS turn
        FROM agents LEFT JOIN unnest(${[...underWay.keys()]}::text[], ${[...underWay.values()]}::bigint[]) AS busy (tenant_id, n) USING (tenant_id)
        WHERE ${isDue}
      ) waiting USING (id)
      WHERE waiting.turn <= ${mostOfOne}
      ORDER BY waiting.turn, a.health_checked_at NULLS FIRST LIMIT ${most} FOR UPDATE OF a SKIP LOCKED)
    RETURNING tenant_id, id`.execute(db);
  return rows;
}

import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, totalOf } from "../records/paging.ts";
import { lockThenFind, type RecordStore, writesById } from "../records/record-store.ts";
import type { AiSystemTable } from "../tables/assurance.ts";

/** With the names of its resource group. */
export type AiSystemRow = Selectable<AiSystemTable> & { readonly name: string; readonly display_name: string | null };
export type AiSystemInsert = Insertable<AiSystemTable>;
export type AiSystemPatch = Updateable<AiSystemTable>;

interface AiSystemFilters {
  readonly search?: string | undefined;
  readonly lifecycle_state?: string | undefined;
}

const rows = (db: Database | Trx, tenantId: string) =>
  db
    .selectFrom("ai_systems")
    .innerJoin("resource_groups", "resource_groups.id", "ai_systems.id")
    .selectAll("ai_systems")
    .select(["resource_groups.name", "resource_groups.display_name"])
    .where("ai_systems.tenant_id", "=", tenantId);

export const aiSystemStore: RecordStore<AiSystemRow, AiSystemInsert, AiSystemPatch, AiSystemFilters> = {
  async page(db, tenantId, { search, lifecycle_state: state }, page) {
    let query = rows(db, tenantId);
    if (state !== undefined) query = query.where("lifecycle_state", "=", state);
    if (search !== undefined) query = query.where("resource_groups.name", "ilike", containing(search));
    const items = await query.orderBy("resource_groups.name").limit(page.limit).offset(page.offset).execute();
    return { items, total: await totalOf(db.selectFrom(query.as("found"))) };
  },
  find: lockThenFind("ai_systems", (db, tenantId, id) => rows(db, tenantId).where("ai_systems.id", "=", id).executeTakeFirst()),
  ...writesById("ai_systems"),
};

export interface AutonomyRow extends Pick<Selectable<AiSystemTable>, "id" | "lifecycle_state" | "autonomy_level" | "restrictions"> {
  /** Actions of the responses that restrict the system now. */
  readonly actions: readonly string[];
}

/** Everything that restricts the systems of a tenant. */
export async function readAutonomy(db: Database | Trx, tenantId: string): Promise<AutonomyRow[]> {
  const { rows: found } = await sql<AutonomyRow>`
    SELECT id, lifecycle_state, autonomy_level, restrictions,
           ARRAY(SELECT DISTINCT action FROM responses r WHERE r.ai_system_id = s.id AND r.status = 'active') AS actions
      FROM ai_systems s WHERE tenant_id = ${tenantId}`.execute(db);
  return found;
}

export interface SystemTraffic {
  readonly id: string;
  readonly calls: number;
  readonly errors: number;
  /** Requests to models, those made before it was a system included. */
  readonly requests: number;
  readonly micros: number;
  readonly unpriced: number;
  readonly last_hour: Date | null;
}

/**
 * Traffic of the systems since `since`, and the last hour in which each was called. Calls of every kind count from when the group became
 * a system; of earlier hours only requests to models are known.
 */
export async function trafficOf(db: Database, tenantId: string, groupIds: readonly string[], since: Date): Promise<SystemTraffic[]> {
  const ids = groupIds as string[];
  const { rows: found } = await sql<SystemTraffic>`
    WITH u AS (
      SELECT resource_group_id AS id, hour, sum(requests) AS requests, sum(errors) AS errors, sum(cost_micro_usd) AS micros,
             sum(unpriced_requests) AS unpriced
        FROM usage_hourly WHERE tenant_id = ${tenantId} AND resource_group_id = ANY(${ids}::text[]) GROUP BY 1, 2
    ), h AS (
      SELECT ai_system_id::text AS id, hour, calls, errors
        FROM ai_system_hours WHERE tenant_id = ${tenantId} AND ai_system_id = ANY(${ids}::uuid[])
    )
    SELECT id,
      coalesce(sum(greatest(h.calls, u.requests)) FILTER (WHERE hour >= ${since}), 0)::bigint AS calls,
      coalesce(sum(coalesce(h.errors, u.errors)) FILTER (WHERE hour >= ${since}), 0)::bigint AS errors,
      coalesce(sum(requests) FILTER (WHERE hour >= ${since}), 0)::bigint AS requests,
      coalesce(sum(micros) FILTER (WHERE hour >= ${since}), 0)::bigint AS micros,
      coalesce(sum(unpriced) FILTER (WHERE hour >= ${since}), 0)::bigint AS unpriced,
      max(hour) AS last_hour
    FROM u FULL JOIN h USING (id, hour) GROUP BY 1`.execute(db);
  return found;
}

/** The number of the group's keys valid at `now`. */
export async function liveKeysOf(db: Database | Trx, tenantId: string, groupId: string, now: Date): Promise<number> {
  const { live } = await db
    .selectFrom("api_keys")
    .select((eb) => eb.fn.countAll<number>().as("live"))
    .where("tenant_id", "=", tenantId)
    .where("resource_group_id", "=", groupId)
    .where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
    .executeTakeFirstOrThrow();
  return live;
}

import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { lockThenFind, type RecordStore } from "../records/record-store.ts";
import type { RoutingGroupTable } from "../tables/models.ts";

interface MemberRow {
  readonly model_id: string;
  readonly name: string;
  readonly routing_weight: number;
  readonly fallback_on: string[];
}

export type RoutingGroupRow = Selectable<RoutingGroupTable> & { readonly members: MemberRow[]; readonly modes: string[] };
export type RoutingGroupInsert = Insertable<RoutingGroupTable>;
export type RoutingGroupPatch = Updateable<RoutingGroupTable>;

export interface RoutingGroupFilters {
  readonly search?: string | undefined;
  readonly enabled_only?: string | undefined;
}

const members = sql<MemberRow[]>`coalesce((
  SELECT jsonb_agg(jsonb_build_object('model_id', m.id, 'name', m.name, 'routing_weight', m.routing_weight, 'fallback_on', m.fallback_on)
           ORDER BY m.routing_weight DESC, m.name)
    FROM models m WHERE m.tenant_id = g.tenant_id AND m.routing_group_id = g.id), '[]')`;

/** Modes that every enabled member of group `g` supports, the group's own mode first. */
export const SHARED_MODES = sql<string[]>`ARRAY[g.mode] || ARRAY(
  SELECT shared.mode FROM models m CROSS JOIN LATERAL unnest(m.modes) AS shared(mode)
   WHERE m.tenant_id = g.tenant_id AND m.routing_group_id = g.id AND m.enabled AND shared.mode <> g.mode
   GROUP BY shared.mode
  HAVING count(*) = (SELECT count(*) FROM models a WHERE a.tenant_id = g.tenant_id AND a.routing_group_id = g.id AND a.enabled)
   ORDER BY shared.mode COLLATE "C")`;

/** Bound to one tenant, because group IDs are unique only within a tenant. */
export function routingGroupStore(
  tenantId: string,
): RecordStore<RoutingGroupRow, RoutingGroupInsert, RoutingGroupPatch, RoutingGroupFilters> {
  const groups = (db: Database | Trx) => db.selectFrom("routing_groups as g").where("g.tenant_id", "=", tenantId);
  return {
    async page(db, _scope, filters, page) {
      let query = groups(db);
      if (filters.enabled_only === "true") query = query.where("g.enabled", "=", true);
      if (filters.search !== undefined) {
        const pattern = containing(filters.search);
        query = query.where((eb) => eb.or([eb("g.id", "ilike", pattern), eb("g.name", "ilike", pattern)]));
      }
      const rows = query
        .selectAll("g")
        .select([members.as("members"), SHARED_MODES.as("modes")])
        .orderBy("g.id");
      return pageOfRows(query, rows, page);
    },
    find: lockThenFind("routing_groups", (db, _scope, id) =>
      groups(db)
        .selectAll("g")
        .select([members.as("members"), SHARED_MODES.as("modes")])
        .where("g.id", "=", id)
        .executeTakeFirst(),
    ),
    insert: async (trx, values) => {
      await trx.insertInto("routing_groups").values(values).execute();
    },
    update: async (trx, id, patch) => {
      await trx.updateTable("routing_groups").set(patch).where("tenant_id", "=", tenantId).where("id", "=", id).execute();
    },
    remove: async (trx, id) => {
      await trx.deleteFrom("routing_groups").where("tenant_id", "=", tenantId).where("id", "=", id).execute();
    },
  };
}

/** The group that callers address by this virtual model. */
export async function routingGroupOfVirtualModel(db: Database, tenantId: string, modelId: string): Promise<RoutingGroupRow | undefined> {
  return db
    .selectFrom("routing_groups as g")
    .selectAll("g")
    .select([members.as("members"), SHARED_MODES.as("modes")])
    .where("g.tenant_id", "=", tenantId)
    .where("g.model_id", "=", modelId)
    .executeTakeFirst();
}

/** Slugs of the groups whose slug or name is one of these. */
export async function routingGroupsCalled(db: Database | Trx, tenantId: string, names: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom("routing_groups")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where((eb) => eb.or([eb("id", "in", names), eb("name", "in", names)]))
    .orderBy("id")
    .execute();
  return rows.map((row) => row.id);
}

/** The mode that a joining model must support; undefined if there is no such group. Locks the group until the transaction ends. */
export async function routingGroupMode(trx: Trx, tenantId: string, id: string): Promise<string | undefined> {
  const row = await trx
    .selectFrom("routing_groups")
    .select("mode")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .forShare()
    .executeTakeFirst();
  return row?.mode;
}

/** Locks all names of the tenant that callers can put in `model` until the transaction ends, so that each stays unique. */
export async function lockModelNames(trx: Trx, tenantId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`model-names:${tenantId}`}, 0))`.execute(trx);
}

/** Those of the IDs that are virtual models of the tenant. */
export async function knownVirtualModels(db: Database | Trx, tenantId: string, modelIds: readonly string[]): Promise<Set<string>> {
  if (modelIds.length === 0) return new Set();
  const rows = await db
    .selectFrom("routing_groups")
    .select("model_id")
    .where("tenant_id", "=", tenantId)
    .where("model_id", "in", modelIds)
    .execute();
  return new Set(rows.map(({ model_id }) => model_id));
}

/** By the group's slug or name. */
export async function virtualModelIdByName(db: Database | Trx, tenantId: string, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("routing_groups")
    .select("model_id")
    .where("tenant_id", "=", tenantId)
    .where((eb) => eb.or([eb("id", "=", name), eb("name", "=", name)]))
    .executeTakeFirst();
  return row?.model_id;
}

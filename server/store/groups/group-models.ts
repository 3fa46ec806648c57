import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, type Page, type Paged } from "../records/paging.ts";
import { SHARED_MODES } from "../models/routing-groups.ts";

export interface GroupModelRow {
  readonly id: string;
  readonly name: string;
  readonly model_name: string;
  readonly provider_key: string;
  readonly modes: string[];
  readonly enabled: boolean;
  /** For a routing group; its mode is that of its members. */
  readonly is_virtual: boolean;
  readonly portal_visible: boolean;
  /** Used in the group only as judge of a semantic policy; nobody may call it. */
  readonly judge_only: boolean;
  readonly depth: number;
  readonly bound_group_id: string;
  readonly bound_group_name: string;
}

/** The tables that bind models, and the virtual models of routing groups. */
export type BindingTable = "resource_group_models" | "resource_group_virtual_models";

const BINDING_TABLES: readonly BindingTable[] = ["resource_group_models", "resource_group_virtual_models"];

/**
 * Models bound to the group or inherited, each once, from the nearest group that binds it; then models that only judge there under its
 * groups' semantic policies. `fallbackJudge`: the model that judges if neither policy nor tenant names one.
 */
export async function modelsOfGroup(
  db: Database,
  tenantId: string,
  groupId: string,
  search: string | undefined,
  page: Page,
  fallbackJudge: string | null,
): Promise<Paged<GroupModelRow>> {
  const pattern = search === undefined ? null : containing(search);
  const { rows } = await sql<GroupModelRow & { total: number }>`
    WITH RECURSIVE above AS (
      SELECT id, name, parent_group_id, 0 AS depth FROM resource_groups WHERE tenant_id = ${tenantId} AND id = ${groupId}
      UNION
      SELECT g.id, g.name, g.parent_group_id, above.depth + 1
        FROM above JOIN resource_groups g ON g.id = above.parent_group_id AND g.tenant_id = ${tenantId} WHERE above.depth < 10000
    ), chain AS (
      SELECT id, name, parent_group_id, inherit_resources, 0 AS depth FROM resource_groups WHERE tenant_id = ${tenantId} AND id = ${groupId}
      UNION
      SELECT g.id, g.name, g.parent_group_id, g.inherit_resources, chain.depth + 1
        FROM chain JOIN resource_groups g ON g.id = chain.parent_group_id AND g.tenant_id = ${tenantId}
       WHERE chain.inherit_resources AND chain.depth < 10000
    ), bound AS (
      SELECT b.model_id, b.portal_visible, false AS judge_only, chain.depth, chain.id AS bound_group_id, chain.name AS bound_group_name
        FROM chain JOIN (SELECT group_id, model_id, portal_visible FROM resource_group_models UNION ALL SELECT group_id, model_id, portal_visible FROM resource_group_virtual_models) b
          ON b.group_id = chain.id
      UNION ALL
      SELECT coalesce(p.judge_model_id, t.default_judge_model_id, f.id), false, true, above.depth, above.id, above.name
        FROM semantic_policies p JOIN tenants t ON t.id = p.tenant_id LEFT JOIN models f ON f.tenant_id = p.tenant_id AND f.name = ${fallbackJudge}
        JOIN above ON CASE WHEN p.all_groups THEN above.parent_group_id IS NULL
                           ELSE EXISTS (SELECT FROM semantic_policy_groups b WHERE b.policy_id = p.id AND b.group_id = above.id) END
       WHERE p.tenant_id = ${tenantId} AND p.enabled
    ), nearest AS (
      SELECT DISTINCT ON (model_id) * FROM bound ORDER BY model_id, judge_only, depth
    ), listed AS (
      SELECT m.id, m.name, m.model_name, p.provider_key, m.modes, m.enabled, false AS is_virtual FROM models m JOIN providers p ON p.id = m.provider_id WHERE m.tenant_id = ${tenantId}
      UNION ALL
      SELECT g.model_id, g.name, g.id, 'routing', ${SHARED_MODES}, g.enabled, true FROM routing_groups g WHERE g.tenant_id = ${tenantId}
    ), found AS (
      SELECT m.*, n.portal_visible, n.judge_only, n.depth, n.bound_group_id, n.bound_group_name FROM nearest n JOIN listed m ON m.id = n.model_id
       WHERE ${pattern}::text IS NULL OR m.name ILIKE ${pattern} OR m.model_name ILIKE ${pattern}
    )
    SELECT found.*, counted.total FROM (SELECT count(*) AS total FROM found) counted
      LEFT JOIN LATERAL (SELECT * FROM found ORDER BY name LIMIT ${page.limit} OFFSET ${page.offset}) found ON true
     ORDER BY found.name`.execute(db);
  return { items: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

/** Returns the IDs that were not bound before. */
export async function bindModels(
  trx: Trx,
  tenantId: string,
  groupId: string,
  modelIds: readonly string[],
  table: BindingTable = "resource_group_models",
): Promise<string[]> {
  if (modelIds.length === 0) return [];
  const rows = await trx
    .insertInto(table)
    .values(modelIds.map((modelId) => ({ group_id: groupId, model_id: modelId, tenant_id: tenantId })))
    .onConflict((conflict) => conflict.doNothing())
    .returning("model_id")
    .execute();
  return rows.map((row) => row.model_id);
}

/** Returns the IDs that were bound. */
export async function unbindModels(trx: Trx, tenantId: string, groupId: string, modelIds: readonly string[]): Promise<string[]> {
  const unbound: string[] = [];
  for (const table of BINDING_TABLES) {
    const rows = await trx
      .deleteFrom(table)
      .where("tenant_id", "=", tenantId)
      .where("group_id", "=", groupId)
      .where("model_id", "in", modelIds)
      .returning("model_id")
      .execute();
    unbound.push(...rows.map((row) => row.model_id));
  }
  return unbound;
}

/** Returns the previous value, or undefined if the model is not bound to the group itself. */
export async function setPortalVisible(
  trx: Trx,
  tenantId: string,
  groupId: string,
  modelId: string,
  visible: boolean,
): Promise<boolean | undefined> {
  for (const table of BINDING_TABLES) {
    const before = await trx
      .selectFrom(table)
      .where("tenant_id", "=", tenantId)
      .where("group_id", "=", groupId)
      .where("model_id", "=", modelId)
      .select("portal_visible")
      .forUpdate()
      .executeTakeFirst();
    if (before === undefined) continue;
    await trx.updateTable(table).set({ portal_visible: visible }).where("group_id", "=", groupId).where("model_id", "=", modelId).execute();
    return before.portal_visible;
  }
  return undefined;
}

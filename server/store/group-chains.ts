import { sql } from "kysely";
import type { Database } from "./database.ts";

/** What is bound to a group itself. */
interface GroupBindings {
  readonly model_ids: readonly string[];
  readonly config_ids: readonly string[];
  /** Models and virtual models that the binding keeps out of the portal's picker, or offers there. */
  readonly hidden_model_ids: readonly string[];
  readonly shown_model_ids: readonly string[];
}

interface GroupPlace {
  /** The group asked for. */
  readonly leaf: string;
  /** One group of its chain: itself at depth 0, then its parents up to the root. */
  readonly id: string;
  readonly name: string;
  readonly depth: number;
  /** Whether what is bound at `id` reaches `leaf`. */
  readonly grants: boolean;
  /** The knowledge bases that calls are given passages of unasked; null: as the group above says. */
  readonly default_knowledgebase_ids: readonly string[] | null;
}

/** With the bindings that reach `leaf`: none above a group that does not inherit. */
export interface GroupChainRow extends GroupPlace, GroupBindings {}

const NOTHING_BOUND: GroupBindings = { model_ids: [], config_ids: [], hidden_model_ids: [], shown_model_ids: [] };

/**
 * The chains of the given groups, each from the group up to its root. A group of another tenant is not there. What is
 * bound to a group is read once, however many chains it stands in: thousands may hang below one root.
 */
export async function readGroupChains(db: Database, tenantId: string, groupIds: readonly string[]): Promise<GroupChainRow[]> {
  const { rows } = await sql<GroupPlace>`
    WITH RECURSIVE chain AS (
      SELECT g.id AS leaf, g.id, g.parent_group_id, g.name, g.inherit_resources, g.default_knowledgebase_ids, 0 AS depth, true AS grants
        FROM resource_groups g WHERE g.tenant_id = ${tenantId} AND g.id = ANY(${groupIds as string[]}::uuid[])
      UNION ALL
      SELECT c.leaf, g.id, g.parent_group_id, g.name, g.inherit_resources, g.default_knowledgebase_ids, c.depth + 1, c.grants AND c.inherit_resources
        FROM chain c JOIN resource_groups g ON g.id = c.parent_group_id AND g.tenant_id = ${tenantId}
       WHERE c.depth < 1000
    )
    SELECT leaf, id, name, depth, grants, default_knowledgebase_ids FROM chain ORDER BY leaf, depth`.execute(db);
  const bound = await readGroupBindings(db, [...new Set(rows.flatMap(({ id, grants }) => (grants ? [id] : [])))]);
  return rows.map((row) => ({ ...row, ...((row.grants ? bound.get(row.id) : undefined) ?? NOTHING_BOUND) }));
}

async function readGroupBindings(db: Database, groupIds: readonly string[]): Promise<Map<string, GroupBindings>> {
  const inGroups = sql`group_id = ANY(${groupIds as string[]}::uuid[])`;
  const { rows } = await sql<{ group_id: string; kind: "model" | "virtual_model" | "config"; visible: boolean; ids: string[] }>`
    SELECT group_id, kind, visible, array_agg(id) AS ids FROM (
      SELECT group_id, 'model' AS kind, portal_visible AS visible, model_id AS id FROM resource_group_models WHERE ${inGroups}
      UNION ALL
      SELECT group_id, 'virtual_model', portal_visible, model_id FROM resource_group_virtual_models WHERE ${inGroups}
      UNION ALL
      SELECT group_id, 'config', true, config_id FROM server_config_groups WHERE ${inGroups}) AS bound
    GROUP BY 1, 2, 3`.execute(db);
  const byGroup = new Map<string, { [Name in keyof GroupBindings]: string[] }>();
  for (const { group_id, kind, visible, ids } of rows) {
    let bindings = byGroup.get(group_id);
    if (bindings === undefined)
      byGroup.set(group_id, (bindings = { model_ids: [], config_ids: [], hidden_model_ids: [], shown_model_ids: [] }));
    if (kind === "config") bindings.config_ids.push(...ids);
    else bindings[visible ? "shown_model_ids" : "hidden_model_ids"].push(...ids);
    if (kind === "model") bindings.model_ids.push(...ids);
  }
  return byGroup;
}

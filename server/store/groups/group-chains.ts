import { sql } from "kysely";
import type { Database } from "../database.ts";
import { type GroupBindings, readGroupBindings } from "./group-bindings.ts";

interface GroupPlace {
  /** The group that was asked for. */
  readonly leaf: string;
  /** One group of its chain: the group itself at depth 0, then its parents up to the root. */
  readonly id: string;
  readonly name: string;
  readonly depth: number;
  /** Whether bindings of `id` reach `leaf`. */
  readonly grants: boolean;
  /** Knowledge bases searched for every call without being asked; null to inherit from the group above. */
  readonly default_knowledgebase_ids: readonly string[] | null;
}

/** Includes the bindings that reach `leaf`: none from above a group that does not inherit. */
export interface GroupChainRow extends GroupPlace, GroupBindings {}

const NOTHING_BOUND: GroupBindings = { model_ids: [], config_ids: [], hidden_model_ids: [], shown_model_ids: [] };

/**
 * The chains of the given groups, each from the group up to its root; groups of other tenants are left out. The bindings of a group are
 * read once however many chains contain it, because thousands may share a root.
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

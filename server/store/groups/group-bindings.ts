import { sql } from "kysely";
import type { Database } from "../database.ts";

/** What is bound to the group itself. */
export interface GroupBindings {
  readonly model_ids: readonly string[];
  readonly config_ids: readonly string[];
  /** Models and virtual models that the binding hides from the portal's picker, or shows there. */
  readonly hidden_model_ids: readonly string[];
  readonly shown_model_ids: readonly string[];
}

export async function readGroupBindings(db: Database, groupIds: readonly string[]): Promise<Map<string, GroupBindings>> {
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

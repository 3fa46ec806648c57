import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { idByName, lockThenFind, type RecordStore, writesById } from "../records/record-store.ts";
import type { ServerConfigTable } from "../tables/tools.ts";

export type ServerConfigRow = Selectable<ServerConfigTable> & { readonly group_ids: string[] };
export type ServerConfigInsert = Insertable<ServerConfigTable>;
export type ServerConfigPatch = Updateable<ServerConfigTable>;

export interface ServerConfigFilters {
  readonly search?: string | undefined;
  readonly mcp_server_id?: string | undefined;
  readonly group_id?: string | undefined;
}

const groupIds = sql<string[]>`ARRAY(SELECT b.group_id FROM server_config_groups b WHERE b.config_id = c.id ORDER BY b.group_id)`;

export const serverConfigStore: RecordStore<ServerConfigRow, ServerConfigInsert, ServerConfigPatch, ServerConfigFilters> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("server_configs as c").where("c.tenant_id", "=", tenantId);
    if (filters.mcp_server_id !== undefined) query = query.where("c.mcp_server_id", "=", filters.mcp_server_id);
    if (filters.search !== undefined) query = query.where("c.name", "ilike", containing(filters.search));
    const { group_id: groupId } = filters;
    if (groupId !== undefined)
      query = query.where((eb) =>
        eb.exists(
          eb
            .selectFrom("server_config_groups as b")
            .select("b.config_id")
            .whereRef("b.config_id", "=", "c.id")
            .where("b.group_id", "=", groupId),
        ),
      );
    return pageOfRows(query, query.selectAll("c").select(groupIds.as("group_ids")).orderBy("c.name"), page);
  },
  find: lockThenFind("server_configs", (db, tenantId, id) =>
    db
      .selectFrom("server_configs as c")
      .selectAll("c")
      .select(groupIds.as("group_ids"))
      .where("c.tenant_id", "=", tenantId)
      .where("c.id", "=", id)
      .executeTakeFirst(),
  ),
  ...writesById("server_configs"),
};

export const serverConfigIdByName = idByName("server_configs");

export async function setConfigGroups(trx: Trx, tenantId: string, configId: string, groups: readonly string[]): Promise<void> {
  await trx.deleteFrom("server_config_groups").where("config_id", "=", configId).execute();
  if (groups.length > 0)
    await trx
      .insertInto("server_config_groups")
      .values(groups.map((groupId) => ({ config_id: configId, group_id: groupId, tenant_id: tenantId })))
      .execute();
}

export async function configsById(db: Database, tenantId: string, ids: readonly string[]): Promise<ServerConfigRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom("server_configs as c")
    .selectAll("c")
    .select(groupIds.as("group_ids"))
    .where("c.tenant_id", "=", tenantId)
    .where("c.id", "in", ids)
    .orderBy("c.priority", "desc")
    .orderBy("c.name")
    .execute();
}

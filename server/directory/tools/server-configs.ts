import type {
  EffectiveServerConfigs,
  ServerConfig,
  ServerConfigCreate,
  ServerConfigQuery,
  ServerConfigUpdate,
} from "@gatehouse/contracts/server-configs";
import { uuid } from "../../kernel/ids.ts";
import { knownMcpServers } from "../../store/tools/mcp-servers.ts";
import { readGroupChains } from "../../store/groups/group-chains.ts";
import {
  configsById,
  serverConfigIdByName,
  serverConfigStore,
  setConfigGroups,
  type ServerConfigInsert,
  type ServerConfigPatch,
  type ServerConfigRow,
} from "../../store/tools/server-configs.ts";
import { checkGroups } from "../policies/bound-groups.ts";
import { resourceGroups } from "../groups/resource-groups.ts";
import { invalidField, records } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { toolAccessOf } from "./tool-access.ts";

function read(row: ServerConfigRow): ServerConfig {
  const { created_at: createdAt, updated_at: updatedAt, ...same } = row;
  return { ...same, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}

async function check(
  write: Write,
  tenantId: string,
  body: { group_ids?: string[] | undefined; approver_group_ids?: string[] | undefined },
  approversBefore: readonly string[],
): Promise<void> {
  await checkGroups(write, tenantId, body.group_ids, null);
  await checkGroups(write, tenantId, body.approver_group_ids, approversBefore, "approver_group_ids");
}

export const serverConfigs = records<
  ServerConfigRow,
  ServerConfigInsert,
  ServerConfigPatch,
  ServerConfig,
  ServerConfigCreate,
  ServerConfigUpdate,
  ServerConfigQuery,
  string
>({
  resource: "server-configs",
  noun: "server configuration",
  store: serverConfigStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, candidate) => serverConfigIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    if (!(await knownMcpServers(write.trx, tenantId, [body.mcp_server_id])).has(body.mcp_server_id))
      throw invalidField("mcp_server_id", "names no tool server of this tenant");
    await check(write, tenantId, body, []);
    const { group_ids: _groups, ...columns } = body;
    return { ...columns, id: uuid(), tenant_id: tenantId, created_at: write.now, updated_at: write.now } as ServerConfigInsert;
  },
  created: (write, tenantId, row, body) => setConfigGroups(write.trx, tenantId, row.id, [...new Set(body.group_ids ?? [])]),
  async toPatch(write, tenantId, row, body) {
    await check(write, tenantId, body, row.approver_group_ids);
    const { group_ids: groups, ...columns } = body;
    if (groups !== undefined) await setConfigGroups(write.trx, tenantId, row.id, [...new Set(groups)]);
    return { ...columns, updated_at: write.now } as ServerConfigPatch;
  },
  dependents: async () => [],
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/** The configurations bound to the group directly or inherited, and the access that results from them. */
export async function readEffectiveServerConfigs(directory: Directory, tenantId: string, groupId: string): Promise<EffectiveServerConfigs> {
  await resourceGroups.get(directory, tenantId, groupId);
  const chain = await readGroupChains(directory.db, tenantId, [groupId]);
  const nearest = new Map<string, { groupId: string; depth: number }>();
  for (const { id, depth, config_ids: configIds } of chain) {
    for (const configId of configIds) if (!nearest.has(configId)) nearest.set(configId, { groupId: id, depth });
  }
  const rows = await configsById(directory.db, tenantId, [...nearest.keys()]);
  const configs = rows.map((row) => ({
    ...read(row),
    inherited: (nearest.get(row.id)?.depth ?? 0) > 0,
    bound_group_id: nearest.get(row.id)?.groupId ?? groupId,
  }));
  const effective = [...toolAccessOf(rows)].map(([serverId, access]) => ({
    mcp_server_id: serverId,
    enabled_tools: access.enabled === null ? null : [...access.enabled],
    disabled_tools: [...access.disabled],
    approval_required_tools: [...access.approvalRequired],
    approval_timeout_seconds: access.approvalTimeoutSeconds,
  }));
  return { server_configs: configs, effective, total: configs.length };
}

import type { AgentGrant, AgentGrantCreate, AgentGrantQuery, AgentGrantUpdate } from "@gatehouse/contracts/agents";
import { uuid } from "../../kernel/ids.ts";
import {
  type AgentGrantInsert,
  type AgentGrantPatch,
  type AgentGrantRow,
  agentGrantStore,
  setGrantGroups,
} from "../../store/agents/agent-grants.ts";
import { agentStore } from "../../store/agents/agents.ts";
import { checkGroups } from "../policies/bound-groups.ts";
import { invalidField, notFound, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";

function read({ skills_digest: given, agent_skills_digest: now, ...row }: AgentGrantRow): AgentGrant {
  return {
    ...row,
    decision: row.decision as AgentGrant["decision"],
    needs_confirmation: given !== null && given !== now,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export const agentGrants = records<
  AgentGrantRow,
  AgentGrantInsert,
  AgentGrantPatch,
  AgentGrant,
  AgentGrantCreate,
  AgentGrantUpdate,
  AgentGrantQuery,
  string
>({
  resource: "agent-grants",
  noun: "agent grant",
  store: agentGrantStore,
  read,
  tenantOf: (row) => row.tenant_id,
  // An agent may be granted to a group more than once; the strictest grant applies.
  takenBy: async () => undefined,
  async toInsert(write, tenantId, body) {
    const agent = await agentStore.find(write.trx, tenantId, body.agent_id, "lock");
    if (agent === undefined) throw invalidField("agent_id", "names no agent of this tenant");
    await checkGroups(write, tenantId, body.group_ids, null);
    await checkGroups(write, tenantId, body.approver_group_ids, [], "approver_group_ids");
    const { group_ids: _groups, ...columns } = body;
    return {
      ...columns,
      id: uuid(),
      tenant_id: tenantId,
      skills_digest: agent.skills_digest,
      created_at: write.now,
      updated_at: write.now,
    } as AgentGrantInsert;
  },
  created: (write, tenantId, row, body) => setGrantGroups(write.trx, tenantId, row.id, [...new Set(body.group_ids)]),
  async toPatch(write, tenantId, row, body) {
    await checkGroups(write, tenantId, body.group_ids, row.group_ids);
    await checkGroups(write, tenantId, body.approver_group_ids, row.approver_group_ids, "approver_group_ids");
    const { group_ids: groups, ...columns } = body;
    if (groups !== undefined) await setGrantGroups(write.trx, tenantId, row.id, [...new Set(groups)]);
    return { ...columns, updated_at: write.now } as AgentGrantPatch;
  },
  dependents: async () => [],
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/** Renews the grant for the skills that the agent has now. */
export async function confirmAgentGrant(write: Write, tenantId: string, id: string): Promise<AgentGrant> {
  const row = await agentGrantStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound("agent grant");
  await agentGrantStore.update(write.trx, id, { skills_digest: row.agent_skills_digest, updated_at: write.now });
  const after = read((await agentGrantStore.find(write.trx, tenantId, id)) as AgentGrantRow);
  write.log({ tenant_id: tenantId, action: "confirm", resource: "agent-grants", resource_id: id, after });
  write.notify(tenantId, "policy");
  return after;
}

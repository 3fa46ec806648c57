import { agentGrant, agentGrantCreate, agentGrantQuery, agentGrantUpdate } from "@gatehouse/contracts/agents";
import { agentGrants, confirmAgentGrant } from "../../../directory/agents/agent-grants.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, resource } from "../resource.ts";

const PATH = "/v1/admin/agent-grants";

export const agentGrantOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "agent_grants",
    noun: "agent grant",
    article: "an",
    tag: "Agents",
    area: "agents",
    table: "agent_grants",
    records: agentGrants,
    query: agentGrantQuery,
    create: agentGrantCreate,
    update: agentGrantUpdate,
    read: agentGrant,
    notes: {
      create:
        "The nearest grant up the tree decides whether a group may call the agent; one that denies, anywhere up the tree, before all.",
    },
  }),
  operation({
    tag: "Agents",
    access: "agents:write",
    reach: "one",
    subject: "agent_grants",
    method: "POST",
    path: `${PATH}/{id}/confirm`,
    summary: "Confirm an agent grant",
    description: "Renews it for the skills that the agent has now.",
    answer: { status: 200, about: "The record as it is now", schema: agentGrant },
    run: (call) => call.write((write) => confirmAgentGrant(write, call.tenantId, idOf(call))),
  }),
];

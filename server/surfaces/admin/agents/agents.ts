import {
  agent,
  agentCardRefresh,
  agentCreate,
  agentHealth,
  agentQuery,
  agentUpdate,
  agentSigningKeys,
  agentTask,
  agentTaskQuery,
  rotateSigningKey,
  type Agent,
} from "@gatehouse/contracts/agents";
import { listOf } from "@gatehouse/contracts/conventions";
import { listAgentTasks, readAgentTask } from "../../../directory/agents/agent-tasks.ts";
import { agents, probedAgent, recordAgentHealth, recordCard, recordCardRefused } from "../../../directory/agents/agents.ts";
import { listCardKeys, rotateCardKey } from "../../../directory/agents/signing-keys.ts";
import { type AdminCall, operation, type AdminOperation } from "../operation.ts";
import { idOf, listed, resource } from "../resource.ts";

const PATH = "/v1/admin/agents";
const TASKS = "/v1/admin/agent-tasks";
const KEYS = "/v1/admin/agent-signing-keys";
const ONE = { tag: "Agents", reach: "one", subject: "agents", textParams: ["id"] } as const;
const writing = { ...ONE, access: "agents:write" } as const;

type Asking = Pick<AdminCall<unknown, unknown>, "services" | "tenantId" | "write">;

const shown = ({ services, tenantId }: Omit<Asking, "write">, read: readonly Agent[]) =>
  services.agentsAsServed(services.directory, tenantId, read);

async function shownOne(call: Omit<Asking, "write">, read: Agent): Promise<Agent> {
  const [one = read] = await shown(call, [read]);
  return one;
}

const generic = resource({
  path: PATH,
  key: "agents",
  noun: "agent",
  article: "an",
  tag: "Agents",
  area: "agents",
  table: "agents",
  records: agents,
  query: agentQuery,
  create: agentCreate,
  update: agentUpdate,
  read: agent,
  shown,
  notes: { remove: "Its grants and its tasks go with it." },
})
  .filter(({ method }) => method !== "POST" && method !== "PATCH")
  .map((one) => ({ ...one, textParams: ["id"] }));

/** Removes members that only writes return. */
function record(answer: unknown): unknown {
  const { discovery: _discovery, ...agentFields } = answer as Agent;
  return agentFields;
}

/** Fetches the agent's card and stores the result. */
async function refreshed({ services, tenantId, write }: Asking, id: string) {
  const { entry, record: probed } = await probedAgent(services.directory, tenantId, id);
  const discovery = await services.agentCards(entry, probed);
  if (discovery.status === "found") {
    const difference = await write((change) => recordCard(change, tenantId, probed, discovery));
    await recordAgentHealth(services.directory, id, true);
    return { status: discovery.status, detail: discovery.detail, difference };
  }
  const { signature } = discovery;
  if (signature !== null) await write((change) => recordCardRefused(change, tenantId, id, signature));
  await recordAgentHealth(services.directory, id, false);
  return { status: discovery.status, detail: discovery.detail, difference: null };
}

async function discovered(call: Asking, id: string): Promise<Agent> {
  const discovery = await refreshed(call, id);
  return { ...(await shownOne(call, await agents.get(call.services.directory, call.tenantId, id))), discovery };
}

const needsDiscovery = (before: Agent, after: Agent, newCredentials: boolean) =>
  after.enabled &&
  (newCredentials ||
    before.card_url !== after.card_url ||
    before.base_url !== after.base_url ||
    before.auth_type !== after.auth_type ||
    before.card_keys_url !== after.card_keys_url ||
    JSON.stringify(before.card_keys) !== JSON.stringify(after.card_keys) ||
    !before.enabled);

export const agentOperations: readonly AdminOperation[] = [
  ...generic,
  operation({
    tag: "Agents",
    access: "agents:write",
    reach: "one",
    method: "POST",
    path: PATH,
    summary: "Register an agent",
    description: "Its card is fetched at once; `discovery` has the result. Nobody can call it before it is granted.",
    body: agentCreate,
    answer: { status: 201, about: "The record made", schema: agent, record },
    async run(call) {
      const made = await call.write((write) => agents.create(write, call.tenantId, call.body));
      return made.enabled ? discovered(call, made.id) : made;
    },
  }),
  operation({
    ...writing,
    method: "PATCH",
    path: `${PATH}/{id}`,
    summary: "Change an agent",
    description:
      "Members left out of the body stay unchanged. If its address or credentials change, the agent's card is fetched again; " +
      "`discovery` has the result.",
    body: agentUpdate,
    answer: { status: 200, about: "The record as it is now", schema: agent, record },
    async run(call) {
      const before = await agents.get(call.services.directory, call.tenantId, idOf(call));
      const after = await call.write((write) => agents.update(write, call.tenantId, idOf(call), call.body));
      return needsDiscovery(before, after, call.body.credentials != null) ? discovered(call, after.id) : shownOne(call, after);
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/{id}/refresh-card`,
    summary: "Fetch an agent's card again",
    description: "`difference` says what changed. Grants given for other skills than it has now have no effect until they are confirmed.",
    answer: { status: 200, about: "What came of it", schema: agentCardRefresh },
    async run(call) {
      const refreshedAgent = await refreshed(call, idOf(call));
      return { ...refreshedAgent, agent: await shownOne(call, await agents.get(call.services.directory, call.tenantId, idOf(call))) };
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/{id}/health-check`,
    summary: "Probe an agent",
    description: "Checks whether its card can be read. The card is not adopted.",
    answer: { status: 200, about: "What came of it", schema: agentHealth },
    async run(call) {
      const { entry, record: probed } = await probedAgent(call.services.directory, call.tenantId, idOf(call));
      const cardDiscovery = await call.services.agentCards(entry, probed);
      const at = await recordAgentHealth(call.services.directory, probed.id, cardDiscovery.status === "found");
      return {
        id: probed.id,
        is_healthy: cardDiscovery.status === "found",
        detail: cardDiscovery.detail,
        health_checked_at: at.toISOString(),
      };
    },
  }),
  operation({
    tag: "Agents",
    access: "agents:read",
    reach: "one",
    method: "GET",
    path: TASKS,
    summary: "List tasks at agents",
    description: "The newest first.",
    query: agentTaskQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("tasks", agentTask) },
    run: (call) => listed("tasks", call, (page) => listAgentTasks(call.services.directory, call.tenantId, call.query, null, page)),
  }),
  operation({
    ...ONE,
    access: "agents:read",
    method: "GET",
    path: `${PATH}/{id}/tasks/{task_id}`,
    textParams: ["id", "task_id"],
    summary: "Read a task at an agent",
    description: "Messages and artifacts are included for readers who may read the bodies of calls.",
    answer: { status: 200, about: "The task", schema: agentTask },
    run: (call) =>
      readAgentTask(call.services.directory, call.tenantId, idOf(call), call.params.task_id ?? "", {
        ownerId: null,
        withContent: call.admin.permissions.has("proxy:logs:read_bodies"),
      }),
  }),
  operation({
    tag: "Agents",
    access: "agents:read",
    reach: "one",
    method: "GET",
    path: KEYS,
    summary: "List the signing keys for agent cards",
    description: "Those of the public key set, the newest first.",
    answer: { status: 200, about: "The keys", schema: agentSigningKeys },
    run: async (call) => ({ keys: await listCardKeys(call.services.directory, call.tenantId) }),
  }),
  operation({
    tag: "Agents",
    access: "agents:write",
    reach: "one",
    method: "POST",
    path: `${KEYS}/rotate`,
    summary: "Create a new signing key for agent cards",
    description: "Cards are also signed with the previous key until the overlap ends.",
    body: rotateSigningKey,
    answer: { status: 200, about: "The keys", schema: agentSigningKeys },
    run: (call) => call.write(async (write) => ({ keys: await rotateCardKey(write, call.tenantId, call.body) })),
  }),
];

import { probedAgent, recordAgentHealth, recordCard, recordCardRefused, takeAgentsDueForRefresh } from "../../directory/agents/agents.ts";
import { type Actor, type Directory, write } from "../../directory/writes/write.ts";
import type { Log } from "../../kernel/log.ts";
import { unlessAborted } from "../../kernel/scheduling/unless-aborted.ts";
import type { CardDiscovery } from "./discover-card.ts";

type Due = Awaited<ReturnType<typeof takeAgentsDueForRefresh>>[number];

/** The actor for the gateway's own changes in the admin log. */
const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
const SEEN_WITHIN_MS = 900_000;
const MAX_CONCURRENT = 8;
/** Per tenant, so that one tenant's unresponsive agents do not use up all places. */
const MAX_PER_TENANT = 2;
/** Agents taken per query, in progress included: the query reads all that are due, so larger batches mean fewer queries. */
const TAKE_BATCH = { most: 32, mostOfOne: 8 };

/**
 * Refreshes cards that have not been fetched for a while, until none is due or `stopping` aborts. Changes are applied and logged with their
 * difference in the admin log; grants issued for other skills stop working.
 */
export async function refreshCards(directory: Directory, discover: CardDiscovery, log: Log, stopping: AbortSignal): Promise<void> {
  const refreshes = new Map<Promise<void>, string>();
  let waiting: Due[] = [];
  const hasTurn = ({ tenant_id: tenantId }: Due) =>
    refreshes.size < MAX_CONCURRENT && [...refreshes.values()].filter((one) => one === tenantId).length < MAX_PER_TENANT;
  while (!stopping.aborted) {
    if (refreshes.size < MAX_CONCURRENT && !waiting.some(hasTurn)) {
      const underWay = new Map<string, number>();
      for (const tenantId of [...refreshes.values(), ...waiting.map(({ tenant_id }) => tenant_id)])
        underWay.set(tenantId, (underWay.get(tenantId) ?? 0) + 1);
      waiting.push(...(await takeAgentsDueForRefresh(directory, SEEN_WITHIN_MS, { ...TAKE_BATCH, underWay })));
    }
    waiting = waiting.filter((agent) => {
      if (!hasTurn(agent)) return true;
      const refresh = refreshCard(directory, discover, agent, stopping)
        .catch(async (error: Error) => {
          if (error === stopping.reason) return;
          log.warn("agent_card_not_refreshed", { tenant_id: agent.tenant_id, agent_id: agent.id, error });
          // The attempt already counts as a check, so without this the agent would keep its previous health.
          await recordAgentHealth(directory, agent.id, false).catch(() => undefined);
        })
        .finally(() => refreshes.delete(refresh));
      refreshes.set(refresh, agent.tenant_id);
      return false;
    });
    if (refreshes.size === 0) return;
    await Promise.race(refreshes.keys());
  }
  await Promise.all(refreshes.keys());
}

async function refreshCard(
  directory: Directory,
  discover: CardDiscovery,
  { tenant_id: tenantId, id }: Due,
  stopping: AbortSignal,
): Promise<void> {
  const { entry, record } = await probedAgent(directory, tenantId, id);
  const discovered = await unlessAborted(discover(entry, record), stopping);
  if (discovered.status === "found") await write(directory, GATEWAY, (change) => recordCard(change, tenantId, record, discovered));
  else if (discovered.signature !== null) {
    const { signature } = discovered;
    await write(directory, GATEWAY, (change) => recordCardRefused(change, tenantId, id, signature));
  }
  await recordAgentHealth(directory, id, discovered.status === "found");
}

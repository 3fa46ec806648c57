import { probedAgent, recordAgentHealth, recordCard, recordCardRefused, takeAgentsNotSeenFor } from "../../directory/agents/agents.ts";
import { type Actor, type Directory, write } from "../../directory/writes/write.ts";
import type { Log } from "../../kernel/log.ts";
import { unlessAborted } from "../../kernel/unless-aborted.ts";
import type { CardDiscovery } from "./discover-card.ts";

/** Whoever has no name in the admin log. */
const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
const SEEN_WITHIN_MS = 900_000;
const MOST_AT_ONCE = 8;
/** Of one tenant: its agents that never answer leave the others' their turn. */
const MOST_OF_ONE = 2;

/**
 * Looks again at the cards nobody has looked at for a while, until none is left or `stopping`, which breaks off what lies elsewhere. What is
 * new is taken over, with its difference in the admin log; grants that were given for other skills open nothing from then on.
 */
export async function refreshCards(directory: Directory, discover: CardDiscovery, log: Log, stopping: AbortSignal): Promise<void> {
  const underWay = new Map<string, number>();
  const looks = new Set<Promise<void>>();
  for (;;) {
    const most = stopping.aborted ? 0 : MOST_AT_ONCE - looks.size;
    const due = most === 0 ? [] : await takeAgentsNotSeenFor(directory, SEEN_WITHIN_MS, { most, mostOfOne: MOST_OF_ONE, underWay });
    for (const { tenant_id: tenantId, id } of due) {
      underWay.set(tenantId, (underWay.get(tenantId) ?? 0) + 1);
      const look = refreshCard(directory, discover, tenantId, id, stopping)
        .catch((error: Error) => {
          if (error !== stopping.reason) log.warn("agent_card_not_refreshed", { tenant_id: tenantId, agent_id: id, error });
        })
        .finally(() => {
          underWay.set(tenantId, (underWay.get(tenantId) ?? 1) - 1);
          looks.delete(look);
        });
      looks.add(look);
    }
    if (looks.size === 0) return;
    await Promise.race(looks);
  }
}

async function refreshCard(
  directory: Directory,
  discover: CardDiscovery,
  tenantId: string,
  id: string,
  stopping: AbortSignal,
): Promise<void> {
  const { entry, record } = await probedAgent(directory, tenantId, id);
  const looked = await unlessAborted(discover(entry, record), stopping);
  if (looked.status === "found") await write(directory, GATEWAY, (change) => recordCard(change, tenantId, record, looked));
  else if (looked.signature !== null) {
    const { signature } = looked;
    await write(directory, GATEWAY, (change) => recordCardRefused(change, tenantId, id, signature));
  }
  await recordAgentHealth(directory, id, looked.status === "found");
}

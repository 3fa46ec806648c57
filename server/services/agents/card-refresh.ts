import { agentsNotSeenSince, probedAgent, recordAgentHealth, recordCard, recordCardRefused } from "../../directory/agents/agents.ts";
import { type Actor, type Directory, write } from "../../directory/writes/write.ts";
import type { Log } from "../../kernel/log.ts";
import type { CardDiscovery } from "./discover-card.ts";

/** Whoever has no name in the admin log. */
const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
const SEEN_WITHIN_MS = 900_000;
const MOST_AT_ONCE = 10;

/**
 * Looks again at the cards nobody has looked at for a while. What is new is taken over, with its difference in the admin log;
 * grants that were given for other skills open nothing from then on.
 */
export async function refreshCards(directory: Directory, discover: CardDiscovery, log: Log): Promise<void> {
  for (const { tenant_id: tenantId, id } of await agentsNotSeenSince(directory, directory.clock.now() - SEEN_WITHIN_MS, MOST_AT_ONCE)) {
    try {
      const { entry, record } = await probedAgent(directory, tenantId, id);
      const looked = await discover(entry, record);
      if (looked.status === "found") await write(directory, GATEWAY, (change) => recordCard(change, tenantId, record, looked));
      else if (looked.signature !== null) {
        const { signature } = looked;
        await write(directory, GATEWAY, (change) => recordCardRefused(change, tenantId, id, signature));
      }
      await recordAgentHealth(directory, id, looked.status === "found");
    } catch (error) {
      log.warn("agent_card_not_refreshed", { tenant_id: tenantId, agent_id: id, error: error as Error });
    }
  }
}

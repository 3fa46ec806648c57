import type { Snapshots } from "../../directory/snapshots.ts";
import { namesTag } from "../../kernel/http/entity-tags.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { type Answer, ownAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { AgentVersion } from "../../wire/a2a/agent-requests.ts";
import { type AgentParts, baseOf } from "./agent-parts.ts";
import type { ServedCards } from "./served-cards.ts";

interface DocumentParts extends Pick<AgentParts, "publicUrl" | "clock"> {
  readonly snapshots: Pick<Snapshots, "tenant">;
  readonly cards: ServedCards;
}

const MAX_AGE_SECONDS = 60;
const PUBLIC = { "cache-control": `public, max-age=${MAX_AGE_SECONDS}`, "access-control-allow-origin": "*" };

/** A tenant's public documents: the cards of its agents and the keys that sign them. */
export interface PublicDocuments {
  card(call: Call, tenantId: string, cardName: string, version: AgentVersion): Promise<Answer | Refusal>;
  keys(call: Call, tenantId: string): Promise<Answer | Refusal>;
}

export function publicDocuments({ snapshots, cards, ...parts }: DocumentParts): PublicDocuments {
  /** Null if the tenant does not exist or is disabled. */
  async function agentsOf(call: Call, tenantId: string) {
    const tenant = await snapshots.tenant(tenantId);
    if (tenant === null || !tenant.enabled) return null;
    call.row.tenant_id = tenant.id;
    return tenant.agents;
  }

  return {
    async card(call, tenantId, cardName, version) {
      const agents = await agentsOf(call, tenantId);
      const agent = agents?.byCardName.get(cardName);
      if (agents == null || agent === undefined || !agent.enabled || agent.reached === null) return refuse("agent_not_found");
      call.row.server_id = agent.id;
      const { text, etag } = cards.read(
        agents,
        { ...agent, reached: agent.reached },
        { base: baseOf(parts, call), version, skills: null, tenantId },
      );
      const held = call.headers.get("if-none-match");
      if (held !== null && namesTag(held, etag)) return ownAnswer(304, { etag, ...PUBLIC });
      const modified = new Date(agent.reached.foundAt).toUTCString();
      return ownAnswer(200, { "content-type": "application/json", etag, "last-modified": modified, vary: "a2a-version", ...PUBLIC }, text);
    },
    async keys(call, tenantId) {
      const agents = await agentsOf(call, tenantId);
      if (agents === null) return refuse("not_found");
      const now = parts.clock.now();
      const keys = agents.keys.filter(({ retiresAt }) => retiresAt === null || retiresAt > now).map(({ jwk }) => jwk);
      return ownAnswer(200, { "content-type": "application/jwk-set+json", ...PUBLIC }, JSON.stringify({ keys }));
    },
  };
}

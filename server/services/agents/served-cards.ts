import { hash } from "node:crypto";
import type { TenantAgents, AgentEntry } from "../../directory/agents/agent-entry.ts";
import { BoundedMap } from "../../directory/bounded-map.ts";
import type { Card } from "../../directory/agents/card.ts";
import { signedCard } from "../../directory/agents/card-signature.ts";
import { cardAt, cardOfV03 } from "../../directory/agents/published-card.ts";
import { ownAddress } from "../../directory/discovery/own-address.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { AgentVersion } from "../../wire/a2a/agent-requests.ts";
import { cardOfSkills } from "./card-of-skills.ts";

export interface ServedCard {
  /** The exact bytes that were signed. */
  readonly text: string;
  readonly etag: string;
}

export interface CardParts {
  readonly clock: Clock;
  readonly log: Log;
  /** The configured public address; null: the request's Host header decides. */
  readonly publicUrl: string | null;
  /** Origins at which the gateway itself listens. */
  readonly gatewayOrigins: readonly string[];
}

const MAX_CARDS = 1_000;

/**
 * Cards as served, signed once per address. A card for an address known only from the request's Host header is not signed: the header may
 * name any host, and the signature would vouch for it as long as the key is valid.
 */
export class ServedCards {
  private readonly served = new BoundedMap<string, ServedCard>(MAX_CARDS);
  private readonly parts: CardParts;
  private readonly isKnown: (base: string) => boolean;
  private warned = false;

  constructor(parts: CardParts) {
    this.parts = parts;
    this.isKnown = ownAddress(parts.publicUrl, parts.gatewayOrigins);
  }

  /** `skills`: the skills this reader may use; null: all published ones. */
  read(
    { keys }: TenantAgents,
    agent: AgentEntry & { readonly reached: NonNullable<AgentEntry["reached"]> },
    {
      base,
      version,
      skills,
      tenantId,
    }: { readonly base: string; readonly version: AgentVersion; readonly skills: ReadonlySet<string> | null; readonly tenantId: string },
  ): ServedCard {
    return this.serve(keys, skills === null ? agent.reached.published : cardOfSkills(agent, tenantId, skills), { base, version });
  }

  /** `card`: as published, with paths for addresses. It is signed with every key that has not retired. */
  serve(keys: TenantAgents["keys"], card: Card, { base, version }: { readonly base: string; readonly version: AgentVersion }): ServedCard {
    const now = this.parts.clock.now();
    const signing = this.isOwn(base) ? keys.filter(({ retiresAt }) => retiresAt === null || retiresAt > now) : [];
    const key = hash("sha256", JSON.stringify([base, version, card, signing.map(({ kid }) => kid)]), "hex");
    const known = this.served.get(key);
    if (known !== undefined) return known;
    const whole = cardAt(card, base);
    const servedCard = version === "1.0" ? whole : cardOfV03(whole);
    const text = JSON.stringify(signing.length === 0 ? servedCard : signedCard(servedCard, signing));
    const made = { text, etag: `"${hash("sha256", text, "hex").slice(0, 32)}"` };
    this.served.set(key, made);
    return made;
  }

  private isOwn(base: string): boolean {
    if (this.isKnown(base)) return true;
    if (!this.warned) this.parts.log.warn("agent_card_not_signed", { address: base.slice(0, 200), set: "GW_PUBLIC_URL" });
    this.warned = true;
    return false;
  }
}

import { hash } from "node:crypto";
import type { TenantAgents, AgentEntry } from "../../directory/agents/agent-entry.ts";
import { BoundedMap } from "../../directory/bounded-map.ts";
import { signedCard } from "../../directory/agents/card-signature.ts";
import { cardAt, cardOfV03 } from "../../directory/agents/published-card.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { AgentVersion } from "../../wire/a2a/agent-requests.ts";
import { cardOfSkills } from "./card-of-skills.ts";

export interface ServedCard {
  /** The very bytes whose content was signed. */
  readonly text: string;
  readonly etag: string;
}

const MOST_CARDS = 1_000;

/** Cards as they are served, each signed once for every address callers come to it by. */
export class ServedCards {
  private readonly served = new BoundedMap<string, ServedCard>(MOST_CARDS);
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** `skills`: those this reader may use; null: all that are published. */
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
    const now = this.clock.now();
    const signing = keys.filter(({ retiresAt }) => retiresAt === null || retiresAt > now);
    const card = skills === null ? agent.reached.published : cardOfSkills(agent, tenantId, skills);
    const key = hash("sha256", JSON.stringify([base, version, card, signing.map(({ kid }) => kid)]), "hex");
    const known = this.served.get(key);
    if (known !== undefined) return known;
    const whole = cardAt(card, base);
    const text = JSON.stringify(signedCard(version === "1.0" ? whole : cardOfV03(whole), signing));
    const made = { text, etag: `"${hash("sha256", text, "hex").slice(0, 32)}"` };
    this.served.set(key, made);
    return made;
  }
}

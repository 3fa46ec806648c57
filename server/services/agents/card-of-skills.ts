import type { AgentEntry } from "../../directory/agents/agent-entry.ts";
import type { Card } from "../../directory/agents/card.ts";
import { publishedCard } from "../../directory/agents/published-card.ts";

export function cardOfSkills(
  agent: AgentEntry & { readonly reached: NonNullable<AgentEntry["reached"]> },
  tenantId: string,
  skills: ReadonlySet<string>,
): Card {
  const { card, streaming, skills: all, published } = agent.reached;
  return publishedCard(
    { card, streaming, skills: all },
    {
      tenantId,
      cardName: agent.cardName,
      name: agent.name,
      description: typeof published.description === "string" ? published.description : null,
      direction: agent.direction,
      skills,
    },
  );
}

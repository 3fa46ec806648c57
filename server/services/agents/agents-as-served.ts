import type { Agent } from "@gatehouse/contracts/agents";
import type { Card } from "../../directory/agents/card.ts";
import { cardSigners } from "../../directory/agents/signing-keys.ts";
import { localOrigins } from "../../directory/discovery/own-address.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { type CardParts, ServedCards } from "./served-cards.ts";

/** Replaces the published cards in agents' records by the cards as served at the gateway's own address. */
export type AgentsAsServed = (directory: Directory, tenantId: string, agents: readonly Agent[]) => Promise<Agent[]>;

/** If the gateway's address is not known, cards stay as stored: with paths instead of addresses, and unsigned. */
export function agentsAsServed(parts: CardParts): AgentsAsServed {
  const cards = new ServedCards(parts);
  const base = parts.publicUrl ?? localOrigins(parts.gatewayOrigins)[0];
  return async (directory, tenantId, agents) => {
    if (base === undefined || agents.every(({ published_card: card }) => card === null)) return [...agents];
    const keys = await cardSigners(directory, tenantId);
    return agents.map((agent) => {
      if (agent.published_card === null) return agent;
      const { text } = cards.serve(keys, agent.published_card as Card, { base, version: "1.0" });
      return { ...agent, published_card: JSON.parse(text) as Agent["published_card"] };
    });
  };
}

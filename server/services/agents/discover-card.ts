import type { AgentEntry } from "../../directory/agents/agent-entry.ts";
import type { CardSignatureState } from "../../directory/agents/card-verification.ts";
import { readUpstreamCard, type UpstreamCard } from "../../directory/agents/upstream-card.ts";
import { explained, isRefusal } from "../../kernel/errors.ts";
import { storableValue } from "../../kernel/text/storable.ts";
import { AgentAuthorization } from "../../upstreams/agents/agent-credentials.ts";
import type { AgentSend } from "../../upstreams/agents/agent-send.ts";
import { isNestedDeeper } from "../../wire/json/nesting.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { cardVerification, type CardTrust } from "./card-trust.ts";

const MAX_CARD_BYTES = 512 * 1024;
const MAX_DEPTH = 40;
const MAX_DURATION_MS = 20_000;

export type FoundCard =
  | { readonly status: "found"; readonly detail: string; readonly found: UpstreamCard; readonly signature: CardSignatureState }
  /** `signature`: set if a card was found but rejected for its signature. */
  | { readonly status: "inconclusive"; readonly detail: string; readonly signature: CardSignatureState | null };

/** Where an agent was registered, and the keys that must have signed its card. */
export interface AgentPlace extends Pick<CardTrust, "card_keys" | "card_keys_url"> {
  readonly card_url: string | null;
  readonly base_url: string | null;
}

/** Fetches and verifies an agent's card at its registered location. Never throws. */
export type CardDiscovery = (agent: AgentEntry, place: AgentPlace) => Promise<FoundCard>;

function addressesOf({ card_url: card, base_url: base }: AgentPlace): string[] {
  if (card !== null) return [card];
  const below = (base ?? "").replace(/\/+$/, "");
  // The second is the location before v0.3.
  return [`${below}/.well-known/agent-card.json`, `${below}/.well-known/agent.json`];
}

export function cardDiscovery(send: AgentSend): CardDiscovery {
  const authorization = new AgentAuthorization(send);
  const verified = cardVerification(send);
  return async (agent, place) => {
    const own = await authorization.headers(agent);
    if (isRefusal(own)) return { status: "inconclusive", detail: explained(own), signature: null };
    const origins = new Set([place.card_url, place.base_url].flatMap((url) => (url === null ? [] : [new URL(url).origin])));
    let detail = "";
    for (const url of addressesOf(place)) {
      const card = await cardAtAddress(url, own, Math.min(agent.timeoutMs, MAX_DURATION_MS));
      const read = typeof card === "string" ? card : readUpstreamCard(card.value, origins);
      if (typeof read !== "string") {
        const signature = await verified(read.card, { ...place, origins });
        if (typeof signature === "string") return { status: "inconclusive", detail: signature, signature: null };
        // Whoever can alter the card could redirect the agent's calls, so the known card stays in force.
        if (signature.status === "failed") return { status: "inconclusive", detail: `${url}: ${signature.detail}`, signature };
        return { status: "found", detail: `The card stands at ${url}.`, found: read, signature };
      }
      // An error in a card that exists tells more than a missing card at the other address.
      if (detail === "" || typeof card !== "string") detail = `${url}: ${read}`;
    }
    return { status: "inconclusive", detail, signature: null };
  };

  async function cardAtAddress(
    url: string,
    headers: Record<string, string>,
    timeoutMs: number,
  ): Promise<{ readonly value: unknown } | string> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new Error("too slow")), timeoutMs);
    try {
      const response = await send({ url, method: "GET", headers: { accept: "application/json", ...headers }, abort, timeoutMs });
      if (isRefusal(response)) return abort.signal.aborted ? "the card did not come in time" : explained(response);
      if (response.status >= 300 && response.status < 400) return "it answers with a redirect, which is not followed";
      if (!response.ok) return `it answers ${response.status}`;
      const bytes = await readUpTo(response.body, MAX_CARD_BYTES, abort.signal);
      if (abort.signal.aborted) return "the card did not come in time";
      if (bytes === null) return "the card is larger than 512 KiB";
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      if (isNestedDeeper(text, MAX_DEPTH)) return "the card is nested too deep";
      let isFinite = true;
      const value: unknown = JSON.parse(text, (_name, inner: unknown) => {
        isFinite &&= typeof inner !== "number" || Number.isFinite(inner);
        return inner;
      });
      // Infinity could be neither compared nor stored as JSON.
      return isFinite ? { value: storableValue(value) } : "the card has a number that is too large";
    } catch {
      return "the card is not readable JSON";
    } finally {
      clearTimeout(timer);
    }
  }
}

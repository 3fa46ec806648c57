import { isObject } from "../../kernel/json-value.ts";
import { cardsIn, type Card } from "../../directory/agents/card.ts";
import {
  type CardSignatureState,
  heldSignature,
  isKnownAlgorithm,
  hasSignatures,
  type ReadSignature,
  readSignatures,
} from "../../directory/agents/card-verification.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { storableText } from "../../kernel/text/storable.ts";
import type { AgentSend } from "../../upstreams/agents/agent-send.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";

/** The keys trusted to sign the agent's card. */
export interface CardTrust {
  /** Keys pinned by an administrator. */
  readonly card_keys: readonly Record<string, unknown>[] | null;
  readonly card_keys_url: string | null;
  /** Origins at which the agent was registered: keys that a card references there are trusted as the agent's own. */
  readonly origins: ReadonlySet<string>;
}

const MAX_KEYS_BYTES = 64 * 1024;
const MAX_KEYS = 100;
const MAX_ADDRESSES = 3;
const MAX_DURATION_MS = 10_000;

const state = (
  status: CardSignatureState["status"],
  detail: string,
  trusted: CardSignatureState["trusted_by"] = null,
  kid: string | null = null,
): CardSignatureState => ({ status, kid: kid === null ? null : storableText(kid), trusted_by: trusted, detail: storableText(detail) });

/**
 * Verifies a card's signatures. A signature itself names where its keys are, and trusting that would let anybody sign; so keys are fetched
 * only from the record's address or the agent's own origins. A string is the reason why keys named by the record could not be fetched, so
 * that nothing can be concluded. Never throws.
 */
export function cardVerification(send: AgentSend) {
  return async (card: Card, trust: CardTrust): Promise<CardSignatureState | string> => {
    const { card_keys: pinned, card_keys_url: url } = trust;
    const isPinned = pinned !== null || url !== null;
    if (!hasSignatures(card))
      return isPinned
        ? state("failed", "The card is not signed, and keys are written down for it.")
        : state("unsigned", "The card is not signed.");
    const signatures = readSignatures(card);
    const known = signatures.filter(({ alg }) => isKnownAlgorithm(alg));
    if (isPinned) {
      const keys = pinned === null ? await keysAt(String(url), send) : (pinned as readonly Card[]);
      if (typeof keys === "string") return `The keys of its card could not be had from ${String(url)}: ${keys}.`;
      return decided(card, known, keys, pinned === null ? "card_keys_url" : "card_keys");
    }
    if (known.length === 0) return state("unverified", "No signature of the card can be read, or they are of a kind that is not known.");
    const own = ownAddresses(known, trust.origins);
    if (own.length === 0) return state("unverified", elsewhere(known));
    const keys: Card[] = [];
    let failed = "";
    for (const address of own) {
      const found = await keysAt(address, send);
      if (typeof found === "string") failed = `${address}: ${found}`;
      else keys.push(...found);
    }
    if (keys.length === 0) return state("unverified", `The keys that the card names could not be had: ${failed}.`);
    return decided(card, known, keys, "agent_host");
  };
}

async function decided(
  card: Card,
  signatures: readonly ReadSignature[],
  keys: readonly Card[],
  trusted: NonNullable<CardSignatureState["trusted_by"]>,
): Promise<CardSignatureState> {
  const held = await heldSignature(card, signatures, keys);
  return held === null
    ? state("failed", "No signature of the card was made with a key that is trusted, over what the card says.", trusted)
    : state("verified", `Signed with ${held.alg}.`, trusted, held.kid.slice(0, 200));
}

function ownAddresses(signatures: readonly ReadSignature[], origins: ReadonlySet<string>): string[] {
  const named = signatures.flatMap(({ jku }) => (jku !== null && URL.canParse(jku) && origins.has(new URL(jku).origin) ? [jku] : []));
  return [...new Set(named)].slice(0, MAX_ADDRESSES);
}

function elsewhere(signatures: readonly ReadSignature[]): string {
  const named = signatures.find(({ jku }) => jku !== null)?.jku;
  return named == null
    ? "The card is signed, and nothing says with whose keys: write them down as card_keys or card_keys_url."
    : `The card names its keys at ${named.slice(0, 200)}, which is not the agent's host: they are trusted as card_keys_url only.`;
}

/** Fetches a key set. A string is the reason why that failed. */
async function keysAt(url: string, send: AgentSend): Promise<readonly Card[] | string> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error("too slow")), MAX_DURATION_MS);
  try {
    const headers = { accept: "application/jwk-set+json, application/json" };
    const response = await send({ url, method: "GET", headers, abort, timeoutMs: MAX_DURATION_MS });
    if (isRefusal(response)) return abort.signal.aborted ? "they did not come in time" : response.message.replace(/\.$/, "");
    if (!response.ok) {
      abort.abort();
      return `it answers ${response.status}`;
    }
    const bytes = await readUpTo(response.body, MAX_KEYS_BYTES, abort.signal);
    if (bytes === null) return "the key set is larger than 64 KiB";
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(value) && Array.isArray(value.keys) ? cardsIn(value.keys).slice(0, MAX_KEYS) : "there is no key set";
  } catch {
    return abort.signal.aborted ? "they did not come in time" : "the key set is not readable JSON";
  } finally {
    clearTimeout(timer);
  }
}

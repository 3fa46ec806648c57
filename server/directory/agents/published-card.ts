import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { cardsIn, type Card } from "./card.ts";
import type { UpstreamCard } from "./upstream-card.ts";

/** Who publishes a card, and under which names. */
export interface CardTerms {
  readonly tenantId: string;
  readonly cardName: string;
  readonly name: string;
  readonly description: string | null;
  readonly direction: "inbound" | "outbound";
  /** Null publishes all skills. */
  readonly skills: ReadonlySet<string> | null;
}

/** The runtime-plane paths at which v1.0 and v0.3 callers reach an agent. */
export const agentPath = (tenantId: string, cardName: string): string =>
  `/a2a/${encodeURIComponent(tenantId)}/${encodeURIComponent(cardName)}`;
export const legacyPath = (cardName: string, direction: CardTerms["direction"]): string =>
  `/v1/proxy/a2a/${direction}?agent=${encodeURIComponent(cardName)}`;

const SKILL_LISTS = ["examples", "inputModes", "outputModes"] as const;

/** The non-empty strings of a list; agents put anything into their cards. */
const wordsOf = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string" && one !== "") : [];

/**
 * The card that the gateway publishes for an agent, built from the agent's own: with the gateway's name and addresses, and
 * only the permitted skills. It holds no empty values, so that every verifier computes the same bytes, and no security
 * schemes, because clients that parse those from a signed card cannot verify it.
 */
export function publishedCard({ card, streaming, skills }: Pick<UpstreamCard, "card" | "streaming" | "skills">, terms: CardTerms): Card {
  const used = skills.filter(({ id }) => terms.skills === null || terms.skills.has(String(id)));
  const modes = (value: JsonValue | undefined) => {
    const named = wordsOf(value);
    return named.length > 0 ? named : ["text/plain"];
  };
  const made: Card = {
    name: terms.name,
    description: terms.description ?? (typeof card.description === "string" && card.description !== "" ? card.description : terms.name),
    supportedInterfaces: [
      { url: agentPath(terms.tenantId, terms.cardName), protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url: agentPath(terms.tenantId, terms.cardName), protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: legacyPath(terms.cardName, terms.direction), protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ],
    ...(isObject(card.provider) && typeof card.provider.organization === "string" && typeof card.provider.url === "string"
      ? { provider: { organization: card.provider.organization, url: card.provider.url } }
      : {}),
    version: typeof card.version === "string" && card.version !== "" ? card.version : "1",
    capabilities: { streaming, pushNotifications: true, extendedAgentCard: true, extensions: extensionsOf(card) },
    defaultInputModes: modes(card.defaultInputModes),
    defaultOutputModes: modes(card.defaultOutputModes),
    skills: (used.length > 0 ? used : [{ id: terms.cardName, name: terms.name }]).map((skill) => skillOf(skill)),
    ...(typeof card.documentationUrl === "string" ? { documentationUrl: card.documentationUrl } : {}),
    ...(typeof card.iconUrl === "string" ? { iconUrl: card.iconUrl } : {}),
  };
  return withoutEmpty(made) as Card;
}

/** The agent's extensions. `required: false` is omitted, because signers differ in whether they write it. */
function extensionsOf(card: Card): Card[] {
  const declared = isObject(card.capabilities) ? cardsIn(card.capabilities.extensions) : [];
  return declared
    .filter(({ uri }) => typeof uri === "string" && uri !== "")
    .map(({ uri, description, required, params }) => ({
      uri,
      description: typeof description === "string" ? description : undefined,
      required: required === true ? true : undefined,
      params: isObject(params) ? params : undefined,
    }));
}

/** Fills in what the protocol requires of a skill and drops what its clients could not parse. */
function skillOf(skill: Card): Card {
  const name = typeof skill.name === "string" && skill.name !== "" ? skill.name : skill.id;
  const tags = wordsOf(skill.tags);
  const lists = SKILL_LISTS.map((list) => [list, wordsOf(skill[list])] as const).filter(([, words]) => words.length > 0);
  return {
    id: skill.id,
    name,
    description: typeof skill.description === "string" && skill.description !== "" ? skill.description : name,
    tags: tags.length > 0 ? tags : ["agent"],
    ...Object.fromEntries(lists),
  };
}

function withoutEmpty(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) {
    const kept = value.map(withoutEmpty).filter((one) => one !== undefined);
    return kept.length === 0 ? undefined : (kept as JsonValue[]);
  }
  if (!isObject(value)) return value === "" || value === null ? undefined : value;
  const kept = Object.entries(value)
    .map(([name, member]) => [name, withoutEmpty(member)] as const)
    .filter(([, member]) => member !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The card with absolute URLs, for a client that reached the gateway at `base`. */
export function cardAt(card: Card, base: string): Card {
  return { ...card, supportedInterfaces: cardsIn(card.supportedInterfaces).map((one) => ({ ...one, url: `${base}${String(one.url)}` })) };
}

/** The card in the v0.3 format. */
export function cardOfV03(card: Card, version = "0.3.0"): Card {
  const { supportedInterfaces, capabilities, ...rest } = card;
  const legacy = cardsIn(supportedInterfaces).find(({ protocolVersion }) => protocolVersion === "0.3");
  const { extendedAgentCard, ...able } = isObject(capabilities) ? capabilities : {};
  return {
    ...rest,
    protocolVersion: version,
    url: legacy?.url ?? null,
    preferredTransport: "JSONRPC",
    capabilities: able,
    supportsAuthenticatedExtendedCard: extendedAgentCard === true,
  };
}

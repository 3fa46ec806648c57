import { hash } from "node:crypto";
import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { cardsIn, type Card } from "./card.ts";

type AgentBinding = "http_json" | "jsonrpc";
type AgentVersion = "1.0" | "0.3";

/** What the gateway needs from an agent's card, whichever version it is in. */
export interface UpstreamCard {
  readonly card: Card;
  readonly endpoint: string;
  readonly binding: AgentBinding;
  readonly version: AgentVersion;
  /** The tenant named by the interface, which callers must then send; null if it names none. */
  readonly tenant: string | null;
  readonly streaming: boolean;
  readonly skills: readonly Card[];
}

interface Interface {
  readonly url: string;
  readonly binding: AgentBinding;
  readonly version: AgentVersion;
  readonly tenant: string | null;
}

/** In order of preference. */
const PREFERRED: readonly (readonly [AgentVersion, AgentBinding])[] = [
  ["1.0", "http_json"],
  ["1.0", "jsonrpc"],
  ["0.3", "jsonrpc"],
];

const MAX_SKILLS = 1_000;

const text = (value: JsonValue | undefined): string | null => (typeof value === "string" && value !== "" ? value : null);

function bindingOf(name: JsonValue | undefined): AgentBinding | null {
  if (name === "HTTP+JSON") return "http_json";
  return name === "JSONRPC" ? "jsonrpc" : null;
}

function versionOf(value: JsonValue | undefined): AgentVersion | null {
  const protocolVersion = text(value) ?? "0.3";
  if (/^1\.0(?:\.|$)/.test(protocolVersion)) return "1.0";
  return /^0\.3(?:\.|$)/.test(protocolVersion) ? "0.3" : null;
}

function interfacesOf(card: Card): Interface[] {
  const found: Interface[] = [];
  const add = (
    url: JsonValue | undefined,
    name: JsonValue | undefined,
    protocolVersion: JsonValue | undefined,
    tenant: JsonValue | undefined,
  ) => {
    const [address, binding, version] = [text(url), bindingOf(name), versionOf(protocolVersion)];
    if (address !== null && binding !== null && version !== null)
      found.push({ url: address.replace(/\/+$/, ""), binding, version, tenant: text(tenant) });
  };
  for (const one of cardsIn(card.supportedInterfaces)) add(one.url, one.protocolBinding, one.protocolVersion, one.tenant);
  // A v0.3 card names its own address and additional ones.
  if (found.length === 0) {
    add(card.url, card.preferredTransport ?? "JSONRPC", card.protocolVersion, undefined);
    for (const one of cardsIn(card.additionalInterfaces)) add(one.url, one.transport, card.protocolVersion, undefined);
  }
  return found;
}

/**
 * Parses a card; returns a string saying why if it cannot be used. `origins` are those the administrator registered: a
 * card cannot make the gateway send the agent's credentials anywhere else.
 */
export function readUpstreamCard(value: unknown, origins: ReadonlySet<string>): UpstreamCard | string {
  if (!isObject(value)) return "the card is no JSON object";
  if (text(value.name) === null) return "the card has no name";
  const skills = cardsIn(value.skills);
  if (skills.length > MAX_SKILLS) return `the card has more than ${MAX_SKILLS} skills`;
  if (skills.some(({ id }) => text(id) === null)) return "a skill of the card has no id";
  if (new Set(skills.map(({ id }) => id)).size < skills.length) return "two skills of the card have the same id";
  const spoken = interfacesOf(value);
  if (spoken.length === 0) return "the card names no interface that the gateway speaks: HTTP+JSON or JSONRPC of A2A 1.0, or JSONRPC of 0.3";
  const reachable = spoken.filter(({ url }) => URL.canParse(url) && origins.has(new URL(url).origin));
  if (reachable.length === 0)
    return `the card's interfaces are not where the agent was registered: ${spoken.map(({ url }) => url.slice(0, 200)).join(", ")}`;
  for (const [version, binding] of PREFERRED) {
    const found = reachable.find((one) => one.version === version && one.binding === binding);
    if (found !== undefined)
      return {
        card: value,
        endpoint: found.url,
        binding,
        version,
        tenant: found.tenant,
        streaming: isObject(value.capabilities) && value.capabilities.streaming === true,
        skills,
      };
  }
  return "the card names no interface that the gateway speaks";
}

/** A digest of an agent's skills, independent of their order. */
export function skillsDigest(skills: readonly Card[]): string {
  return hash("sha256", canonicalJson(skills.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1))), "hex");
}

export interface CardDifference {
  readonly skills_added: string[];
  readonly skills_removed: string[];
  readonly skills_changed: string[];
  readonly changes: string[];
}

const COMPARED_MEMBERS = [
  "name",
  "description",
  "version",
  "provider",
  "capabilities",
  "defaultInputModes",
  "defaultOutputModes",
  "supportedInterfaces",
  "url",
  "securitySchemes",
];
const MAX_LENGTH = 200;
const shown = (value: JsonValue | undefined) => (value === undefined ? "nothing" : canonicalJson(value).slice(0, MAX_LENGTH));

/** How a card differs from the previous one, in words. `before` is null for the first card. */
export function cardDifference(before: Card | null, after: Card): CardDifference {
  const skills = (card: Card | null) => new Map(cardsIn(card?.skills).map((skill) => [String(skill.id), canonicalJson(skill)]));
  const [old, now] = [skills(before), skills(after)];
  return {
    skills_added: [...now.keys()].filter((id) => !old.has(id)),
    skills_removed: [...old.keys()].filter((id) => !now.has(id)),
    skills_changed: [...now].filter(([id, skillText]) => old.has(id) && old.get(id) !== skillText).map(([id]) => id),
    changes:
      before === null
        ? []
        : COMPARED_MEMBERS.filter((name) => canonicalJson(before[name]) !== canonicalJson(after[name])).map(
            (name) => `${name}: ${shown(before[name])} is now ${shown(after[name])}`,
          ),
  };
}

import type { Agent, AgentCardDifference, AgentCreate, AgentQuery, AgentUpdate } from "@gatehouse/contracts/agents";
import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import { ulid } from "../../kernel/ids.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import { grantsOfAgent, takeFirstDigest } from "../../store/agents/agent-grants.ts";
import {
  type AgentInsert,
  agentNamed,
  type AgentPatch,
  type AgentRow,
  agentStore,
  takeAgentsToRefresh,
} from "../../store/agents/agents.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";
import { checkGroups } from "../policies/bound-groups.ts";
import { invalidField, notFound, records } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { type AgentCredentials, type AgentEntry, agentEntry } from "./agent-entry.ts";
import { isObject } from "../../kernel/json-value.ts";
import { agentCredentialsContext } from "../../kernel/seal-contexts.ts";
import { cardsIn, type Card } from "./card.ts";
import type { CardSignatureState } from "./card-verification.ts";
import { publishedCard } from "./published-card.ts";
import { ensureSigningKey } from "./signing-keys.ts";
import { cardDifference, skillsDigest, type UpstreamCard } from "./upstream-card.ts";

function opened(row: Pick<AgentRow, "id" | "credentials_sealed">, secrets: SecretBox): AgentCredentials | null {
  const text = secrets.openOrNull(row.credentials_sealed, agentCredentialsContext(row.id));
  return text === null ? null : (JSON.parse(text) as AgentCredentials);
}

function settingsOf(credentials: AgentCredentials | null): Agent["credential_settings"] {
  if (credentials === null) return null;
  const { value, client_secret: clientSecret, header = null, token_url = null, client_id = null, scope = null } = credentials;
  return { header, token_url, client_id, scope, has_value: value !== undefined, has_client_secret: clientSecret !== undefined };
}

function read(row: AgentRow, secrets: SecretBox): Agent {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    card_name: row.card_name,
    name: row.name,
    description: row.description,
    direction: row.direction as Agent["direction"],
    card_url: row.card_url,
    base_url: row.base_url,
    auth_type: row.auth_type as Agent["auth_type"],
    has_credentials: row.credentials_sealed !== null,
    credential_settings: settingsOf(opened(row, secrets)),
    timeout: row.timeout,
    enabled: row.enabled,
    card_keys: row.card_keys as Agent["card_keys"],
    card_keys_url: row.card_keys_url,
    card_signature: row.card_signature,
    skills_allowed: row.skills_allowed,
    resource_group_id: row.resource_group_id,
    endpoint_url: row.endpoint_url,
    protocol_version: row.protocol_version,
    dialect: row.dialect as Agent["dialect"],
    upstream_card: row.upstream_card,
    published_card: row.published_card,
    discovered_at: row.discovered_at?.toISOString() ?? null,
    is_healthy: row.is_healthy,
    health_checked_at: row.health_checked_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

const UNPROBED: AgentPatch = { is_healthy: null, health_checked_at: null };

/** Resets everything that was discovered at the previous address. */
const UNDISCOVERED: AgentPatch = {
  ...UNPROBED,
  endpoint_url: null,
  protocol_version: null,
  dialect: null,
  upstream_card: null,
  published_card: null,
  skills_digest: null,
  discovered_at: null,
  card_signature: null,
};

const columnOf = (keys: AgentCreate["card_keys"]) => (keys === undefined ? {} : { card_keys: keys === null ? null : JSON.stringify(keys) });

function checkKeys({ card_keys: keys, card_keys_url: url }: Pick<AgentCreate, "card_keys" | "card_keys_url">): void {
  if (keys != null && url != null)
    throw invalidField("card_keys_url", "cannot stand beside card_keys: one of them says whose signatures count");
}

/** The credential fields that each authentication type requires. */
const NEEDS: Readonly<Record<Agent["auth_type"], readonly (keyof AgentCredentials)[]>> = {
  none: [],
  api_key: ["value"],
  bearer: ["value"],
  oauth_client: ["token_url", "client_id", "client_secret"],
};

function checkCredentials(authType: Agent["auth_type"], given: AgentCredentials | null): void {
  for (const name of NEEDS[authType])
    if (given?.[name] === undefined) throw invalidField(`credentials.${name}`, `is required for auth_type ${authType}`);
}

function sealed(write: Write, id: string, given: AgentCredentials | null): string | null {
  return given === null ? null : write.directory.secrets.seal(JSON.stringify(given), agentCredentialsContext(id));
}

async function checkOwnGroup(write: Write, tenantId: string, groupId: string | null | undefined, before: string | null): Promise<void> {
  if (groupId != null) await checkGroups(write, tenantId, [groupId], before === null ? [] : [before], "resource_group_id");
}

/** The origins at which the agent may be reached; its card cannot name any other. */
export function originsOf({ card_url: card, base_url: base }: Pick<Agent, "card_url" | "base_url">): Set<string> {
  return new Set([card, base].flatMap((url) => (url === null ? [] : [new URL(url).origin])));
}

const sameOrigins = (one: ReadonlySet<string>, other: ReadonlySet<string>) => [...other].every((origin) => one.has(origin));

export const agents = records<AgentRow, AgentInsert, AgentPatch, Agent, AgentCreate, AgentUpdate, AgentQuery, string>({
  resource: "agents",
  noun: "agent",
  store: agentStore,
  read,
  tenantOf: (row) => row.tenant_id,
  unique: "of this card_name",
  takenBy: (write, tenantId, candidate) => agentNamed(write.trx, tenantId, candidate.card_name),
  async toInsert(write, tenantId, body) {
    const { credentials = null, card_keys: keys, ...columns } = body;
    if (body.card_url == null && body.base_url == null) throw invalidField("base_url", "is required where there is no card_url");
    checkCredentials(body.auth_type ?? "none", credentials);
    checkKeys(body);
    await checkOwnGroup(write, tenantId, body.resource_group_id, null);
    await ensureSigningKey(write, tenantId);
    const id = `agent-${ulid()}`;
    return {
      ...columns,
      ...columnOf(keys),
      id,
      tenant_id: tenantId,
      credentials_sealed: sealed(write, id, credentials),
      created_at: write.now,
      updated_at: write.now,
    } as AgentInsert;
  },
  async toPatch(write, tenantId, row, body) {
    const { credentials, card_keys: keys, ...columns } = body;
    const before = read(row, write.directory.secrets);
    const after = { ...before, ...columns, ...(keys === undefined ? {} : { card_keys: keys }) } as Agent;
    checkKeys(after);
    if (after.card_url === null && after.base_url === null) throw invalidField("base_url", "is required where there is no card_url");
    await checkOwnGroup(write, tenantId, body.resource_group_id, row.resource_group_id);
    // An admin who may write agents may not read their credentials, so these must not follow the agent to another host.
    if (credentials === undefined && row.credentials_sealed !== null && !sameOrigins(originsOf(before), originsOf(after)))
      throw invalidField("credentials", "must be sent again when the agent moves to another host");
    const kept = opened(row, write.directory.secrets);
    if (body.auth_type !== undefined || credentials !== undefined)
      checkCredentials(after.auth_type, credentials === undefined ? kept : credentials);
    const moved = needsDiscovery(before, after);
    const renamed =
      row.upstream_card !== null && !moved ? { published_card: JSON.stringify(cardOf(row.upstream_card as Card, after)) } : {};
    return {
      ...columns,
      ...columnOf(keys),
      ...renamed,
      ...(credentials === undefined || (kept !== null && JSON.stringify(credentials) === JSON.stringify(kept))
        ? {}
        : { credentials_sealed: sealed(write, row.id, credentials) }),
      ...(moved ? UNDISCOVERED : {}),
      updated_at: write.now,
    } as AgentPatch;
  },
  dependents: async () => [],
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/** The agent with decrypted credentials, for a probe, and its current record. Throws a `not_found` refusal. */
export async function probedAgent(
  directory: Pick<Directory, "db" | "secrets">,
  tenantId: string,
  id: string,
): Promise<{ readonly entry: AgentEntry; readonly record: Agent }> {
  const row = await agentStore.find(directory.db, tenantId, id);
  if (row === undefined) throw notFound("agent");
  return {
    entry: agentEntry(row, directory.secrets.openOrNull(row.credentials_sealed, agentCredentialsContext(id))),
    record: read(row, directory.secrets),
  };
}

function cardOf(card: Card, agent: Pick<Agent, "tenant_id" | "card_name" | "name" | "description" | "direction" | "skills_allowed">): Card {
  return publishedCard(
    { card, streaming: isObject(card.capabilities) && card.capabilities.streaming === true, skills: cardsIn(card.skills) },
    {
      tenantId: agent.tenant_id,
      cardName: agent.card_name,
      name: agent.name,
      description: agent.description,
      direction: agent.direction,
      skills: agent.skills_allowed === null ? null : new Set(agent.skills_allowed),
    },
  );
}

/** Whether the address or the trusted signing keys changed, so that earlier discoveries no longer apply. */
function needsDiscovery(before: Agent, after: Agent): boolean {
  return (["card_url", "base_url", "card_keys", "card_keys_url"] as const).some((name) => !isSame(before[name], after[name]));
}

/** Compares canonical JSON, because the database does not keep the order of members. */
const isSame = (stored: unknown, found: unknown): boolean => canonicalJson(stored) === canonicalJson(found);

/**
 * Stores a discovered card if it differs from the known one. Returns how it differs, and the IDs of the grants that must
 * be confirmed because of it.
 */
export async function recordCard(
  write: Write,
  tenantId: string,
  probed: Agent,
  { found, signature }: { readonly found: UpstreamCard; readonly signature: CardSignatureState },
): Promise<AgentCardDifference> {
  const row = await agentStore.find(write.trx, tenantId, probed.id, "lock");
  if (row === undefined) throw notFound("agent");
  const now = read(row, write.directory.secrets);
  const cardChange = cardDifference(row.upstream_card as Card | null, found.card);
  const signed = row.card_signature?.status;
  if (signed !== undefined && signed !== signature.status) cardChange.changes.push(`signature: ${signed} is now ${signature.status}`);
  // The agent's address or trusted keys changed during the probe, so its result no longer applies.
  if (needsDiscovery(probed, now)) return { ...cardChange, grants_to_confirm: [] };
  const digest = skillsDigest(found.skills);
  await takeFirstDigest(write.trx, row.id, digest);
  const grants = await grantsOfAgent(write.trx, row.id);
  const difference = {
    ...cardChange,
    grants_to_confirm: grants.filter(({ skills_digest: given }) => given !== digest).map(({ id }) => id),
  };
  const facts = { endpoint_url: found.endpoint, protocol_version: found.version, dialect: found.binding, skills_digest: digest };
  const isKnown =
    signed === signature.status &&
    row.skills_digest === digest &&
    row.endpoint_url === found.endpoint &&
    isSame(row.upstream_card, found.card) &&
    isSame(row.published_card, cardOf(found.card, now));
  if (isKnown) write.stay({}, {}, difference);
  await agentStore.update(write.trx, row.id, {
    ...facts,
    upstream_card: JSON.stringify(found.card),
    published_card: JSON.stringify(cardOf(found.card, now)),
    card_signature: JSON.stringify(signature),
    discovered_at: write.now,
    is_healthy: true,
    health_checked_at: write.now,
  });
  write.log({ tenant_id: tenantId, action: "refresh_card", resource: "agents", resource_id: row.id, after: { ...facts, difference } });
  write.notify(tenantId, "policy");
  return difference;
}

/** Records why a card's signatures were not accepted; the previous card stays in use. */
export async function recordCardRefused(write: Write, tenantId: string, id: string, signature: CardSignatureState): Promise<void> {
  const row = await agentStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound("agent");
  if (isSame(row.card_signature, signature)) write.stay({}, {}, undefined);
  await agentStore.update(write.trx, id, { card_signature: JSON.stringify(signature) });
  write.log({ tenant_id: tenantId, action: "refuse_card", resource: "agents", resource_id: id, after: { card_signature: signature } });
}

/** Records the result of a health probe. This is not a policy change. */
export async function recordAgentHealth(directory: Directory, id: string, healthy: boolean): Promise<Date> {
  const at = new Date(directory.clock.now());
  await directory.db.transaction().execute((trx) => agentStore.update(trx, id, { is_healthy: healthy, health_checked_at: at }));
  return at;
}

/** Claims agents whose cards were last fetched more than `ms` milliseconds ago; see `takeAgentsToRefresh` in the store. */
export function takeAgentsDueForRefresh(
  { db, clock }: Pick<Directory, "db" | "clock">,
  ms: number,
  turns: TenantTurns,
): ReturnType<typeof takeAgentsToRefresh> {
  const now = clock.now();
  return takeAgentsToRefresh(db, { before: new Date(now - ms), now: new Date(now) }, turns);
}

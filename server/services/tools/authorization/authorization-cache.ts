import { BoundedMap } from "../../../directory/bounded-map.ts";
import { serverRef, type StoredTokens } from "../../../directory/tools/oauth-tokens.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { type Refusal, isRefusal } from "../../../kernel/errors.ts";
import { type Semaphore, semaphore } from "../../../kernel/scheduling/semaphore.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import type { AuthorizationServer } from "../../../wire/oauth/metadata.ts";

const MAX_TOKENS = 50_000;
const MAX_SERVERS = 5_000;
/** An issuer that takes its time leaves room to its tenant's other issuers, and a tenant, who names the issuers, to other tenants. */
const RENEWALS = { most: 200, mostOfOne: [150, 50], waitMs: 20_000 };
/**
 * Anybody can have the gateway fetch one: a host that takes its time leaves room to other hosts, and whoever asks, who may have
 * any number of hosts, to others who ask.
 */
const DOCUMENTS = { most: 64, mostOfOne: [16, 4], waitMs: 5_000 };
/** An address that fails is not asked again for every request that comes. */
const FAILED_MS = 5_000;

/** How a tool server says it is to be authorized for. */
export interface ProtectedServer {
  /** What tokens are asked for and may be sent to. */
  readonly resource: string;
  /** Never empty. */
  readonly issuers: readonly string[];
  /** What a first authorization asks for; empty: nothing in particular. */
  readonly scopes: readonly string[];
  /** Where it says so; null when it says nothing and its own origin is taken. */
  readonly metadataUrl: string | null;
}

/** What a client says of itself in its document. */
export interface DocumentClient {
  readonly clientName: string;
  readonly redirectUris: readonly string[];
}

interface Kept<T> {
  readonly until: number;
  /** On its way while it is looked for. */
  readonly value: T | Promise<T>;
}

/** This process's cache of upstream authorization. All of it can be lost without a wrong answer. */
export interface AuthorizationCache {
  /** By tenant and reference. */
  readonly tokens: BoundedMap<string, StoredTokens>;
  /** Raised by each change, so that a read begun before it does not bring the old state back. */
  generation: number;
  /** Renewals under way, by the tokens renewed. */
  readonly renewals: Map<string, Promise<StoredTokens | Refusal | null>>;
  /** For renewals, by tenant and by issuer of the tenant. */
  readonly renewing: Semaphore;
  readonly servers: BoundedMap<string, Kept<ProtectedServer | Refusal>>;
  readonly issuers: BoundedMap<string, Kept<AuthorizationServer | Refusal>>;
  /** Digests of kept tokens their servers took no more. */
  readonly refused: BoundedMap<string, true>;
  readonly documents: BoundedMap<string, Kept<DocumentClient | Refusal>>;
  /** Whether a server is authorized for by OAuth, by its id: anybody can ask. */
  readonly oauthServers: BoundedMap<string, Kept<{ readonly is: boolean } | Refusal>>;
  /** Lets documents of clients be fetched, by where they are asked for from and by host. */
  readonly fetching: Semaphore;
}

export function authorizationCache(): AuthorizationCache {
  return {
    tokens: new BoundedMap(MAX_TOKENS),
    generation: 0,
    renewals: new Map(),
    renewing: semaphore(RENEWALS),
    servers: new BoundedMap(MAX_SERVERS),
    issuers: new BoundedMap(MAX_SERVERS),
    refused: new BoundedMap(MAX_SERVERS),
    documents: new BoundedMap(MAX_SERVERS),
    oauthServers: new BoundedMap(MAX_SERVERS),
    fetching: semaphore(DOCUMENTS),
  };
}

/** Forgets what a change names: what a principal held for a server, or how a server is authorized for. */
export function clearAuthorization(memory: AuthorizationCache, tenantId: string, ref: string): void {
  memory.generation++;
  memory.tokens.delete(`${tenantId}\n${ref}`);
  if (!ref.startsWith(serverRef(""))) return;
  for (const key of [...memory.servers.keys()]) if (ref === serverRef(key.split("\n")[0] as string)) memory.servers.delete(key);
}

/**
 * A server that refuses a token it was given before may have moved to another issuer: what it says is asked for again.
 * Once for each token, so that whoever goes on with a dead one does not have the gateway ask for every call.
 */
export function refetchAuthorization(
  memory: AuthorizationCache,
  server: { readonly id: string; readonly url: string },
  accessToken: string,
): void {
  const key = `${server.id}\n${sha256Hex(accessToken)}`;
  if (memory.refused.get(key) === true) return;
  memory.refused.set(key, true);
  memory.servers.delete(keyOfServer(server));
}

/** Under which what a server says is remembered. */
export function keyOfServer({ id, url }: { readonly id: string; readonly url: string }): string {
  return `${id}\n${url}`;
}

/** What is remembered under the key, or is being looked for; null where nothing is. */
export function keptLookup<T extends object>(
  map: BoundedMap<string, Kept<T | Refusal>>,
  key: string,
  clock: Clock,
): T | Refusal | Promise<T | Refusal> | null {
  const kept = map.get(key);
  return kept !== undefined && kept.until > clock.now() ? kept.value : null;
}

/**
 * What is remembered under the key, else what `find` finds, remembered for `forMs`; what went wrong, only briefly. Whoever
 * comes while it is looked for waits for the same: anybody can ask, and what is asked may be slow.
 */
export async function cachedLookup<T extends object>(
  map: BoundedMap<string, Kept<T | Refusal>>,
  key: string,
  clock: Clock,
  forMs: number,
  find: () => Promise<T | Refusal>,
): Promise<T | Refusal> {
  const kept = keptLookup(map, key, clock);
  if (kept !== null) return kept;
  const under: Kept<T | Refusal> = { until: Number.POSITIVE_INFINITY, value: find() };
  map.set(key, under);
  // What was forgotten meanwhile is not brought back.
  const isStillMeant = () => map.get(key) === under;
  try {
    const found = await under.value;
    if (isStillMeant()) map.set(key, { until: clock.now() + (isRefusal(found) ? FAILED_MS : forMs), value: found });
    return found;
  } catch (error) {
    if (isStillMeant()) map.delete(key);
    throw error;
  }
}

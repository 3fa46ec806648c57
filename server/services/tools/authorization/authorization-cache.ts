import { BoundedMap } from "../../../directory/bounded-map.ts";
import { serverRef, type StoredTokens } from "../../../directory/tools/oauth-tokens.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { type Refusal, isRefusal } from "../../../kernel/errors.ts";
import { type Semaphore, semaphore } from "../../../kernel/scheduling/semaphore.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import type { AuthorizationServer } from "../../../wire/oauth/metadata.ts";

const MAX_TOKENS = 50_000;
const MAX_SERVERS = 5_000;
/**
 * Renewals at a time: in total, per tenant and per issuer, so that a slow issuer, or a tenant with slow issuers, leaves room for others.
 */
const RENEWALS = { most: 200, mostOfOne: [150, 50], waitMs: 20_000 };
/** Fetches at a time: in total, per requesting network and per host. Anybody can trigger a fetch, from any number of hosts. */
const DOCUMENTS = { most: 64, mostOfOne: [16, 4], waitMs: 5_000 };
/** How long a failure is cached, so that a failing address is not asked for every request. */
const FAILED_MS = 5_000;

/** How a tool server says that clients obtain authorization. */
export interface ProtectedServer {
  /** The resource identifier that tokens are requested for and may be sent to. */
  readonly resource: string;
  /** Never empty. */
  readonly issuers: readonly string[];
  /** Scopes requested in a first authorization; empty: none in particular. */
  readonly scopes: readonly string[];
  /** URL of the server's resource metadata; null if it has none and its own origin is taken as the issuer. */
  readonly metadataUrl: string | null;
}

/** What a client's metadata document says. */
export interface DocumentClient {
  readonly clientName: string;
  readonly redirectUris: readonly string[];
}

interface Kept<T> {
  readonly until: number;
  /** A promise while the lookup is in progress. */
  readonly value: T | Promise<T>;
}

/** This process's cache of upstream authorization. Losing entries never causes a wrong answer. */
export interface AuthorizationCache {
  /** By tenant and reference. */
  readonly tokens: BoundedMap<string, StoredTokens>;
  /** Incremented by every change, so that a read begun before the change does not restore old data. */
  generation: number;
  /** Renewals in progress, by the tokens being renewed. */
  readonly renewals: Map<string, Promise<StoredTokens | Refusal | null>>;
  /** Limits renewals by tenant and by issuer. */
  readonly renewing: Semaphore;
  readonly servers: BoundedMap<string, Kept<ProtectedServer | Refusal>>;
  readonly issuers: BoundedMap<string, Kept<AuthorizationServer | Refusal>>;
  /** Digests of tokens that their servers rejected. */
  readonly refused: BoundedMap<string, true>;
  readonly documents: BoundedMap<string, Kept<DocumentClient | Refusal>>;
  /** Whether a server uses OAuth, by its ID; cached because anybody can ask. */
  readonly oauthServers: BoundedMap<string, Kept<{ readonly is: boolean } | Refusal>>;
  /** Limits fetches of client documents by requesting network and by host. */
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

/** Drops what a change affects: a principal's tokens for a server, or a server's metadata. */
export function clearAuthorization(memory: AuthorizationCache, tenantId: string, ref: string): void {
  memory.generation++;
  memory.tokens.delete(`${tenantId}\n${ref}`);
  if (!ref.startsWith(serverRef(""))) return;
  for (const key of [...memory.servers.keys()]) if (ref === serverRef(key.split("\n")[0] as string)) memory.servers.delete(key);
}

/**
 * Called when a server rejects a token it accepted before: it may have moved to another issuer, so its metadata is fetched again. Only once
 * per token, so that a client that keeps sending an invalid token does not cause a fetch per call.
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

/** Cache key of a server's metadata. */
export function keyOfServer({ id, url }: { readonly id: string; readonly url: string }): string {
  return `${id}\n${url}`;
}

/** The cached value or the lookup in progress; null if there is neither. */
export function lookupThroughCache<T extends object>(
  map: BoundedMap<string, Kept<T | Refusal>>,
  key: string,
  clock: Clock,
): T | Refusal | Promise<T | Refusal> | null {
  const kept = map.get(key);
  return kept !== undefined && kept.until > clock.now() ? kept.value : null;
}

/**
 * The cached value, or else the result of `find`, cached for `forMs` milliseconds; refusals are cached only briefly. Concurrent callers
 * share one lookup, because anybody can trigger it and it may be slow.
 */
export async function cachedLookup<T extends object>(
  map: BoundedMap<string, Kept<T | Refusal>>,
  key: string,
  clock: Clock,
  forMs: number,
  find: () => Promise<T | Refusal>,
): Promise<T | Refusal> {
  const kept = lookupThroughCache(map, key, clock);
  if (kept !== null) return kept;
  const under: Kept<T | Refusal> = { until: Number.POSITIVE_INFINITY, value: find() };
  map.set(key, under);
  // An entry dropped during the lookup is not restored.
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

import { BoundedMap } from "../../directory/bounded-map.ts";
import { serverRef, type StoredTokens } from "../../directory/tools/oauth-tokens.ts";
import type { Refusal } from "../../kernel/errors.ts";
import type { AuthorizationServer } from "../../wire/oauth/metadata.ts";
import type { DocumentClient } from "./client-documents.ts";
import type { ProtectedServer } from "./protected-servers.ts";

const MAX_TOKENS = 50_000;
const MAX_SERVERS = 5_000;

interface Kept<T> {
  readonly until: number;
  readonly value: T;
}

/** What this process remembers of upstream authorization. All of it can be lost without a wrong answer. */
export interface AuthorizationMemory {
  /** By tenant and reference. */
  readonly tokens: BoundedMap<string, StoredTokens>;
  /** Raised by each change, so that a read begun before it does not bring the old state back. */
  generation: number;
  /** Renewals under way, by the tokens renewed. */
  readonly renewals: Map<string, Promise<StoredTokens | Refusal | null>>;
  readonly servers: BoundedMap<string, Kept<ProtectedServer>>;
  readonly issuers: BoundedMap<string, Kept<AuthorizationServer>>;
  readonly documents: BoundedMap<string, Kept<DocumentClient>>;
}

export function authorizationMemory(): AuthorizationMemory {
  return { tokens: new BoundedMap(MAX_TOKENS), generation: 0, renewals: new Map(), servers: new BoundedMap(MAX_SERVERS), issuers: new BoundedMap(MAX_SERVERS), documents: new BoundedMap(MAX_SERVERS) };
}

/** Forgets what a change names: what a principal held for a server, or how a server is authorized for. */
export function forgetAuthorization(memory: AuthorizationMemory, tenantId: string, ref: string): void {
  memory.generation++;
  for (const key of [...memory.servers.keys()]) if (ref === serverRef(key.split("\n")[0] as string)) memory.servers.delete(key);
  memory.tokens.delete(`${tenantId}\n${ref}`);
}

/** What is remembered under the key, else what `find` finds, remembered for `forMs` when it is no refusal. */
export async function remembered<T extends object, R>(map: BoundedMap<string, Kept<T>>, key: string, now: number, forMs: number, find: () => Promise<T | R>, isFound: (found: T | R) => found is T): Promise<T | R> {
  const kept = map.get(key);
  if (kept !== undefined && kept.until > now) return kept.value;
  const found = await find();
  if (isFound(found)) map.set(key, { until: now + forMs, value: found });
  return found;
}

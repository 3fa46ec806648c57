import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Clock } from "../../kernel/clock.ts";
import { BoundedMap } from "../bounded-map.ts";

/** Fetches an issuer's document by GET, limited in size and time. Rejects on failure. */
export type FetchIssuerDocument = (url: string) => Promise<unknown>;

interface KeySet {
  readonly keys: JWTVerifyGetKey;
  readonly fetchedAt: number;
}

const FRESH_MS = 10 * 60_000;
/** How long keys are still trusted if refreshing them fails. */
const STALE_MS = 60 * 60_000;
/** An unknown key ID triggers a refresh, at most this often, so that made-up IDs cannot cause more. */
const PAUSE_MS = 30_000;
const MAX_ISSUERS = 1_000;

/** The signing keys of issuers, found through their discovery documents. */
export class KeySets {
  private readonly known = new BoundedMap<string, KeySet>(MAX_ISSUERS);
  private readonly tried = new BoundedMap<string, number>(MAX_ISSUERS);
  private readonly loading = new Map<string, Promise<KeySet | null>>();
  private readonly fetchDocument: FetchIssuerDocument;
  private readonly clock: Clock;

  constructor(fetchDocument: FetchIssuerDocument, clock: Clock) {
    this.fetchDocument = fetchDocument;
    this.clock = clock;
  }

  /** Null if the keys cannot be fetched. `renewed`: the known keys lack the key that is needed. */
  async of(issuer: string, renewed = false): Promise<JWTVerifyGetKey | null> {
    const now = this.clock.now();
    const known = this.known.get(issuer);
    const age = known === undefined ? Number.POSITIVE_INFINITY : now - known.fetchedAt;
    if (known !== undefined && age < FRESH_MS && !renewed) return known.keys;
    const lately = now - (this.tried.get(issuer) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS;
    const fetched = lately && !this.loading.has(issuer) ? null : await this.load(issuer);
    if (fetched !== null) return fetched.keys;
    return known !== undefined && age < STALE_MS ? known.keys : null;
  }

  private load(issuer: string): Promise<KeySet | null> {
    const under = this.loading.get(issuer);
    if (under !== undefined) return under;
    this.tried.set(issuer, this.clock.now());
    const load = this.fetchKeys(issuer)
      .then((keys) => {
        const set = { keys, fetchedAt: this.clock.now() };
        this.known.set(issuer, set);
        return set;
      })
      .catch(() => null)
      .finally(() => this.loading.delete(issuer));
    this.loading.set(issuer, load);
    return load;
  }

  private async fetchKeys(issuer: string): Promise<JWTVerifyGetKey> {
    const document = (await this.fetchDocument(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`)) as Record<string, unknown>;
    if (document.issuer !== issuer || typeof document.jwks_uri !== "string") throw new Error("the discovery document is of another issuer");
    return createLocalJWKSet((await this.fetchDocument(document.jwks_uri)) as JSONWebKeySet);
  }
}

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { SIGNATURE_ALGORITHMS, verifyToken } from "../../kernel/verify-token.ts";

interface PublishedKeys {
  readonly keys: JWTVerifyGetKey;
  readonly fetchedAt: number;
}

export const CLOCK_TOLERANCE_SECONDS = 60;
const FRESH_MS = 5 * 60_000;
/** An unknown key has the set fetched again, at most this often. */
const PAUSE_MS = 60_000;

/** The signing keys that one provider publishes. */
export class IdTokenKeys {
  private readonly fetchKeys: () => Promise<unknown>;
  private known: PublishedKeys | null = null;

  constructor(fetchKeys: () => Promise<unknown>) {
    this.fetchKeys = fetchKeys;
  }

  /** Whether one of the keys signed the ID token; false if that may be one that is not in the set yet. Throws if none did. */
  async signed(idToken: string): Promise<boolean> {
    const known = this.known !== null && performance.now() - this.known.fetchedAt < FRESH_MS ? this.known : await this.fetched();
    if (await isSigned(idToken, known.keys)) return true;
    return performance.now() - known.fetchedAt >= PAUSE_MS && isSigned(idToken, (await this.fetched()).keys);
  }

  private async fetched(): Promise<PublishedKeys> {
    const keys = createLocalJWKSet((await this.fetchKeys()) as JSONWebKeySet);
    return (this.known = { keys, fetchedAt: performance.now() });
  }
}

async function isSigned(idToken: string, keys: JWTVerifyGetKey): Promise<boolean> {
  try {
    await verifyToken(idToken, keys, { algorithms: SIGNATURE_ALGORITHMS, clockTolerance: CLOCK_TOLERANCE_SECONDS });
    return true;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return false;
    throw error;
  }
}

import { createHash } from "node:crypto";
import { importPKCS8, SignJWT } from "jose";
import { reasonOf, type Refusal, refuse } from "../../../kernel/errors.ts";
import { OutboundDenied } from "../../../runtime/destinations.ts";
import { type Outbound } from "../../../runtime/outbound.ts";
import { readJson } from "../read-json.ts";
import { outboundRefusal } from "../send.ts";
import type { ServiceAccount } from "./service-account.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const ASSERTION_SECONDS = 3600;
/** Tokens are renewed this long before they expire, so that none expires in flight. */
const EARLY_MS = 300_000;
const TIMEOUT_MS = 15_000;

interface Token {
  readonly value: string;
  readonly freshUntil: number;
}

/**
 * Access tokens of service accounts, obtained with a signed assertion and cached in memory until shortly before they expire. Concurrent
 * calls for the same token share one exchange.
 */
export class AccessTokens {
  private readonly outbound: Outbound;
  private readonly clock: { now(): number };
  /** Keyed by a hash of the account's key. */
  private readonly kept = new Map<string, Token>();
  private readonly fetching = new Map<string, Promise<Token | Refusal>>();

  constructor(outbound: Outbound, clock: { now(): number }) {
    this.outbound = outbound;
    this.clock = clock;
  }

  async of(account: ServiceAccount): Promise<string | Refusal> {
    const name = nameOf(account);
    const kept = this.kept.get(name);
    if (kept !== undefined && kept.freshUntil > this.clock.now()) return kept.value;
    let fetching = this.fetching.get(name);
    if (fetching === undefined) {
      fetching = this.exchange(account).finally(() => this.fetching.delete(name));
      this.fetching.set(name, fetching);
    }
    const token = await fetching;
    if ("code" in token) return token;
    this.keep(name, token);
    return token.value;
  }

  /** Drops a token that the vendor rejected; the next call gets a new one. */
  forget(account: ServiceAccount): void {
    this.kept.delete(nameOf(account));
  }

  private keep(name: string, token: Token): void {
    const now = this.clock.now();
    // Also removes expired tokens of keys that were replaced.
    for (const [other, { freshUntil }] of this.kept) if (freshUntil <= now) this.kept.delete(other);
    this.kept.set(name, token);
  }

  private async exchange(account: ServiceAccount): Promise<Token | Refusal> {
    const now = this.clock.now();
    let assertion: string;
    try {
      assertion = await signedAssertion(account, Math.floor(now / 1000));
    } catch {
      return refuse("upstream_auth_failed", undefined, { reason: "the service account's private key cannot be used" });
    }
    try {
      const body = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }).toString();
      const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json", "user-agent": "gatehouse" };
      const response = await this.outbound.fetch(account.tokenUri, {
        method: "POST",
        headers,
        body,
        abort: new AbortController(),
        timeoutMs: TIMEOUT_MS,
      });
      const read = await readJson(response, TIMEOUT_MS);
      const answer = "body" in read ? read.body : null;
      if (response.status >= 500) return refuse("upstream_error", undefined, { reason: `the token endpoint answered ${response.status}` });
      if (!response.ok || typeof answer?.access_token !== "string") {
        return refuse("upstream_auth_failed", undefined, {
          reason: `the token endpoint answered ${response.status}${typeof answer?.error === "string" ? `: ${answer.error}` : ""}`,
        });
      }
      const seconds = typeof answer.expires_in === "number" ? answer.expires_in : ASSERTION_SECONDS;
      return { value: answer.access_token, freshUntil: now + seconds * 1000 - EARLY_MS };
    } catch (error) {
      if (error instanceof OutboundDenied) return outboundRefusal(error);
      // The model was sent nothing, so no error may say that its provider has the request: such attempts are metered at their input.
      return refuse("upstream_unreachable", undefined, { reason: `the token endpoint: ${reasonOf(error)}` });
    }
  }
}

function nameOf({ email, privateKey, tokenUri }: ServiceAccount): string {
  return createHash("sha256")
    .update(JSON.stringify([email, tokenUri, privateKey]))
    .digest("hex");
}

async function signedAssertion({ email, privateKey, keyId, tokenUri }: ServiceAccount, seconds: number): Promise<string> {
  const key = await importPKCS8(privateKey, "RS256");
  return new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(keyId === null ? {} : { kid: keyId }) })
    .setIssuer(email)
    .setAudience(tokenUri)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + ASSERTION_SECONDS)
    .sign(key);
}

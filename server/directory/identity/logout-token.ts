import type { Clock } from "../../kernel/clock.ts";
import { SIGNATURE_ALGORITHMS, verifyToken } from "../../kernel/verify-token.ts";
import type { KeySets } from "./key-sets.ts";

/** Whom a provider signs out. */
export interface LogoutToken {
  readonly subject: string | null;
  readonly sessionId: string | null;
  readonly id: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const TOLERANCE_SECONDS = 60;
const MAX_SECONDS = 600;
const MAX_LENGTH = 16_384;

/** Throws unless the token is a valid logout token of that issuer for that client (OpenID Connect Back-Channel Logout 1.0, 2.4 and 2.6). */
export async function readLogoutToken(
  token: string,
  provider: { readonly issuer: string; readonly clientId: string },
  { keys, clock }: { readonly keys: KeySets; readonly clock: Clock },
): Promise<LogoutToken> {
  if (token.length > MAX_LENGTH) throw new Error("the token is too long");
  try {
    return await verified(token, provider, await keysOf(keys, provider.issuer, false), clock);
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_JWKS_NO_MATCHING_KEY") throw error;
    return verified(token, provider, await keysOf(keys, provider.issuer, true), clock);
  }
}

async function keysOf(keys: KeySets, issuer: string, renewed: boolean) {
  const found = await keys.of(issuer, renewed);
  if (found === null) throw new Error("the keys of the provider cannot be had");
  return found;
}

async function verified(
  token: string,
  { issuer, clientId }: { readonly issuer: string; readonly clientId: string },
  keys: NonNullable<Awaited<ReturnType<KeySets["of"]>>>,
  clock: Clock,
): Promise<LogoutToken> {
  const { payload } = await verifyToken(token, keys, {
    ...{ issuer, audience: clientId, typ: "logout+jwt" },
    algorithms: SIGNATURE_ALGORITHMS,
    requiredClaims: ["iat", "exp", "jti", "events"],
    clockTolerance: TOLERANCE_SECONDS,
    maxTokenAge: MAX_SECONDS,
    currentDate: new Date(clock.now()),
  });
  const { events, nonce, sub, sid, jti, exp = 0 } = payload;
  if (nonce !== undefined) throw new Error("a logout token has no nonce");
  if (typeof events !== "object" || events === null || !Object.hasOwn(events, EVENT)) throw new Error("the token is of another event");
  const subject = typeof sub === "string" && sub !== "" ? sub : null;
  const sessionId = typeof sid === "string" && sid !== "" ? sid : null;
  if (subject === null && sessionId === null) throw new Error("the token names neither a subject nor a session");
  return { subject, sessionId, id: String(jti), expiresAt: exp * 1000 };
}

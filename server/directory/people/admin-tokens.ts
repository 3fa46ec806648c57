import { jwtVerify, SignJWT } from "jose";
import type { Clock } from "../../kernel/clock.ts";
import { ulid } from "../../kernel/ids.ts";

const TYPE = "gw-admin+jwt";
const AUDIENCE = "gw:admin";
const SECOND_STEP_AUDIENCE = "gw:admin-2fa";
const SECOND_STEP_SECONDS = 300;
const ISSUER = "gatehouse";

export interface AdminToken {
  readonly userId: string;
  /** The user's `tokens_valid_from` at issue, epoch milliseconds; the token is void once that has changed. */
  readonly generation: number;
  /** Epoch milliseconds, to the second. */
  readonly issuedAt: number;
  /** When the session behind the token ends according to the identity provider, epoch milliseconds; null if it sets no end. */
  readonly sessionEndsAt: number | null;
  /** Whether it was renewed from a page session rather than issued by a sign-in. */
  readonly renewed: boolean;
  /** Whether the holder signed in by an identity provider that requires a second factor itself. */
  readonly factorElsewhere: boolean;
}

/** What a token states besides its holder. */
type SessionFacts = Pick<AdminToken, "sessionEndsAt" | "renewed" | "factorElsewhere">;
/** For a pending second step: when the identity provider ends the session; null after a password. */
export type OwedAfter = Pick<AdminToken, "sessionEndsAt"> | null;

interface AdminTokenHolder {
  readonly id: string;
  readonly tenant_id: string | null;
  readonly role: string;
  readonly tokens_valid_from: Date;
}

export interface AdminTokens {
  readonly expirySeconds: number;
  issue(user: AdminTokenHolder, more?: { readonly seconds?: number } & Partial<SessionFacts>): Promise<string>;
  /** Null if it is not an admin token; `expired` if it was one. */
  verify(token: string): Promise<AdminToken | "expired" | null>;
  /** Issued after the first step (password or identity provider) while a code is still required. Accepted only for the second step. */
  issueSecondStep(user: AdminTokenHolder, after?: OwedAfter): Promise<string>;
  verifySecondStep(token: string): Promise<(Pick<AdminToken, "userId" | "generation"> & { readonly after: OwedAfter }) | null>;
}

/**
 * Bearer tokens of the control plane (HS256). Their key is never shared: the secret of portal tokens may be shared with
 * other issuers, which must not be able to create administrators.
 */
export function adminTokens(settings: { keys: readonly [Uint8Array, ...Uint8Array[]]; expirySeconds: number; clock: Clock }): AdminTokens {
  const { keys, clock, expirySeconds } = settings;
  const [key] = keys;
  const issueFor = (
    user: AdminTokenHolder,
    audience: string,
    seconds: number,
    sessionFacts: SessionFacts & { readonly signedOn?: boolean },
  ) => {
    const now = Math.floor(clock.now() / 1000);
    const ends = sessionFacts.sessionEndsAt === null ? null : Math.floor(sessionFacts.sessionEndsAt / 1000);
    const session = {
      ...(ends === null ? {} : { session_ends: ends }),
      ...(sessionFacts.renewed ? { renewed: true } : {}),
      ...(sessionFacts.factorElsewhere ? { factor_elsewhere: true } : {}),
      ...(sessionFacts.signedOn === true ? { signed_on: true } : {}),
    };
    return new SignJWT({ tenant_id: user.tenant_id, role: user.role, gen: user.tokens_valid_from.getTime(), ...session })
      .setProtectedHeader({ alg: "HS256", typ: TYPE })
      .setIssuer(ISSUER)
      .setAudience(audience)
      .setSubject(user.id)
      .setJti(ulid())
      .setIssuedAt(now)
      .setExpirationTime(Math.min(now + seconds, ends ?? Number.POSITIVE_INFINITY))
      .sign(key);
  };
  const verifyWith = async (
    token: string,
    audience: string,
    verifying: Uint8Array,
  ): Promise<(AdminToken & { signedOn: boolean }) | "expired" | null> => {
    try {
      const { payload } = await jwtVerify(token, verifying, {
        algorithms: ["HS256"],
        typ: TYPE,
        audience,
        issuer: ISSUER,
        requiredClaims: ["sub", "exp", "iat", "gen"],
        currentDate: new Date(clock.now()),
      });
      const { sub, gen, iat = 0, session_ends: ends } = payload;
      if (typeof gen !== "number" || sub === undefined) return null;
      const tokenFacts = { renewed: payload.renewed === true, factorElsewhere: payload.factor_elsewhere === true };
      const sessionEndsAt = typeof ends === "number" ? ends * 1000 : null;
      return { userId: sub, generation: gen, issuedAt: iat * 1000, sessionEndsAt, ...tokenFacts, signedOn: payload.signed_on === true };
    } catch (error) {
      return (error as { code?: string }).code === "ERR_JWT_EXPIRED" ? "expired" : null;
    }
  };
  const verifyFor = async (token: string, audience: string) => {
    for (const verifying of keys) {
      const read = await verifyWith(token, audience, verifying);
      if (read !== null) return read;
    }
    return null;
  };
  return {
    expirySeconds,
    issue: (user, { seconds = expirySeconds, sessionEndsAt = null, renewed = false, factorElsewhere = false } = {}) =>
      issueFor(user, AUDIENCE, seconds, { sessionEndsAt, renewed, factorElsewhere }),
    verify: (token) => verifyFor(token, AUDIENCE),
    issueSecondStep: (user, after = null) =>
      issueFor(user, SECOND_STEP_AUDIENCE, SECOND_STEP_SECONDS, {
        ...{ sessionEndsAt: after?.sessionEndsAt ?? null, renewed: false, factorElsewhere: false },
        signedOn: after !== null,
      }),
    async verifySecondStep(token) {
      const read = await verifyFor(token, SECOND_STEP_AUDIENCE);
      if (read === null || read === "expired") return null;
      const { userId, generation, signedOn, sessionEndsAt } = read;
      return { userId, generation, after: signedOn ? { sessionEndsAt } : null };
    },
  };
}

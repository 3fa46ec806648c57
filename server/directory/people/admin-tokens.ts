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
  /** The user's `tokens_valid_from` when it was issued, in milliseconds: another value now means that it ended. */
  readonly generation: number;
  /** Milliseconds since the epoch, to the second. */
  readonly issuedAt: number;
  /** When the session ends that it was given for, as an identity provider said, milliseconds since the epoch; null where none did. */
  readonly sessionEndsAt: number | null;
  /** Whether a page's session yielded it, and no sign-in. */
  readonly renewed: boolean;
}

interface AdminTokenHolder {
  readonly id: string;
  readonly tenant_id: string | null;
  readonly role: string;
  readonly tokens_valid_from: Date;
}

export interface AdminTokens {
  readonly expirySeconds: number;
  /** `sessionEndsAt`, `renewed`: as of `AdminToken`. */
  issue(
    user: AdminTokenHolder,
    more?: { readonly seconds?: number } & Partial<Pick<AdminToken, "sessionEndsAt" | "renewed">>,
  ): Promise<string>;
  /** Null for whatever is no admin token; `expired` for one that was. */
  verify(token: string): Promise<AdminToken | "expired" | null>;
  /** For whoever has given the right password and still owes a code. It opens nothing but the second step. */
  issueSecondStep(user: AdminTokenHolder): Promise<string>;
  verifySecondStep(token: string): Promise<AdminToken | null>;
}

/**
 * Bearer tokens of the control plane (HS256). Their key is none that anybody is given: the secret of the portal's tokens
 * may be shared with who issues those, and must not make an administrator.
 */
export function adminTokens(settings: { key: Uint8Array; expirySeconds: number; clock: Clock }): AdminTokens {
  const { key, clock, expirySeconds } = settings;
  const issueFor = (user: AdminTokenHolder, audience: string, seconds: number, said: Pick<AdminToken, "sessionEndsAt" | "renewed">) => {
    const now = Math.floor(clock.now() / 1000);
    const ends = said.sessionEndsAt === null ? null : Math.floor(said.sessionEndsAt / 1000);
    const session = { ...(ends === null ? {} : { session_ends: ends }), ...(said.renewed ? { renewed: true } : {}) };
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
  const verifyFor = async (token: string, audience: string): Promise<AdminToken | "expired" | null> => {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ["HS256"],
        typ: TYPE,
        audience,
        issuer: ISSUER,
        requiredClaims: ["sub", "exp", "iat", "gen"],
        currentDate: new Date(clock.now()),
      });
      const { sub, gen, iat = 0, session_ends: ends, renewed } = payload;
      const sessionEndsAt = typeof ends === "number" ? ends * 1000 : null;
      return typeof gen === "number" && sub !== undefined
        ? { userId: sub, generation: gen, issuedAt: iat * 1000, sessionEndsAt, renewed: renewed === true }
        : null;
    } catch (error) {
      return (error as { code?: string }).code === "ERR_JWT_EXPIRED" ? "expired" : null;
    }
  };
  return {
    expirySeconds,
    issue: (user, { seconds = expirySeconds, sessionEndsAt = null, renewed = false } = {}) =>
      issueFor(user, AUDIENCE, seconds, { sessionEndsAt, renewed }),
    verify: (token) => verifyFor(token, AUDIENCE),
    issueSecondStep: (user) => issueFor(user, SECOND_STEP_AUDIENCE, SECOND_STEP_SECONDS, { sessionEndsAt: null, renewed: false }),
    async verifySecondStep(token) {
      const read = await verifyFor(token, SECOND_STEP_AUDIENCE);
      return read === "expired" ? null : read;
    },
  };
}

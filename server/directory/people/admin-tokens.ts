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
  /** Whether an identity provider vouched for its holder that asks for a second factor itself. */
  readonly factorElsewhere: boolean;
}

/** What a token says beside whose it is. */
type Said = Pick<AdminToken, "sessionEndsAt" | "renewed" | "factorElsewhere">;
/** Of whoever owes a code: whether an identity provider vouched for them, and until when; null of a password. */
export type OwedAfter = Pick<AdminToken, "sessionEndsAt"> | null;

interface AdminTokenHolder {
  readonly id: string;
  readonly tenant_id: string | null;
  readonly role: string;
  readonly tokens_valid_from: Date;
}

export interface AdminTokens {
  readonly expirySeconds: number;
  issue(user: AdminTokenHolder, more?: { readonly seconds?: number } & Partial<Said>): Promise<string>;
  /** Null for whatever is no admin token; `expired` for one that was. */
  verify(token: string): Promise<AdminToken | "expired" | null>;
  /** For whoever has given the right password, or was vouched for, and still owes a code. It opens nothing but the second step. */
  issueSecondStep(user: AdminTokenHolder, after?: OwedAfter): Promise<string>;
  verifySecondStep(token: string): Promise<(Pick<AdminToken, "userId" | "generation"> & { readonly after: OwedAfter }) | null>;
}

/**
 * Bearer tokens of the control plane (HS256). Their key is none that anybody is given: the secret of the portal's tokens
 * may be shared with who issues those, and must not make an administrator.
 */
export function adminTokens(settings: { key: Uint8Array; expirySeconds: number; clock: Clock }): AdminTokens {
  const { key, clock, expirySeconds } = settings;
  const issueFor = (user: AdminTokenHolder, audience: string, seconds: number, said: Said & { readonly signedOn?: boolean }) => {
    const now = Math.floor(clock.now() / 1000);
    const ends = said.sessionEndsAt === null ? null : Math.floor(said.sessionEndsAt / 1000);
    const session = {
      ...(ends === null ? {} : { session_ends: ends }),
      ...(said.renewed ? { renewed: true } : {}),
      ...(said.factorElsewhere ? { factor_elsewhere: true } : {}),
      ...(said.signedOn === true ? { signed_on: true } : {}),
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
  const verifyFor = async (token: string, audience: string): Promise<(AdminToken & { signedOn: boolean }) | "expired" | null> => {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ["HS256"],
        typ: TYPE,
        audience,
        issuer: ISSUER,
        requiredClaims: ["sub", "exp", "iat", "gen"],
        currentDate: new Date(clock.now()),
      });
      const { sub, gen, iat = 0, session_ends: ends } = payload;
      if (typeof gen !== "number" || sub === undefined) return null;
      const said = { renewed: payload.renewed === true, factorElsewhere: payload.factor_elsewhere === true };
      const sessionEndsAt = typeof ends === "number" ? ends * 1000 : null;
      return { userId: sub, generation: gen, issuedAt: iat * 1000, sessionEndsAt, ...said, signedOn: payload.signed_on === true };
    } catch (error) {
      return (error as { code?: string }).code === "ERR_JWT_EXPIRED" ? "expired" : null;
    }
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

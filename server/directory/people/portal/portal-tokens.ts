import { hkdfSync } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import { decodeTime } from "ulid";
import type { Clock } from "../../../kernel/clock.ts";
import { datedId } from "../../../kernel/ids.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import { BoundedMap } from "../../bounded-map.ts";
import type { PortalToken, TokenHolder } from "./portal-token.ts";

const USER_TYPE = "end_user";
const SECOND_STEP_TYPE = "gw-2fa+jwt";
/** 2FA temp token lifetime (interface 8.7). */
const SECOND_STEP_SECONDS = 300;
const REMEMBERED = 20_000;

/** Whether a bearer has the form of a JWT; verifies nothing. */
export function looksLikeJwt(text: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
}

/**
 * Portal and gateway tokens (interface 2.2): HS256 with the configured secret itself, so that others who hold the secret
 * may issue them. Verified tokens are cached, so that a conversation costs one signature check.
 */
export class PortalTokens {
  readonly expirySeconds: number;
  private readonly key: Uint8Array;
  private readonly secondStepKey: Uint8Array;
  private readonly clock: Clock;
  private readonly verified = new BoundedMap<string, PortalToken>(REMEMBERED);

  constructor(settings: { secret: string; expirySeconds: number; clock: Clock }) {
    this.key = new TextEncoder().encode(settings.secret);
    this.secondStepKey = new Uint8Array(hkdfSync("sha256", settings.secret, "", "gatehouse/second-step", 32));
    this.expirySeconds = settings.expirySeconds;
    this.clock = settings.clock;
  }

  /**
   * `at`: when the holder was last known to be admitted; for `sessionEndsAt`, `renewed` and `signedOn` see `PortalToken`.
   * Times are epoch milliseconds.
   */
  issue(
    user: TokenHolder,
    {
      at = this.clock.now(),
      seconds = this.expirySeconds,
      sessionEndsAt = null,
      renewed = false,
      signedOn = false,
    }: { at?: number; seconds?: number } & Partial<Pick<PortalToken, "sessionEndsAt" | "renewed" | "signedOn">> = {},
  ): Promise<string> {
    // The ID encodes the millisecond, because `iat` has whole seconds only, too coarse to order a token and a password change.
    const jti = datedId(Math.max(at, user.tokens_valid_from.getTime()));
    const iat = Math.floor(decodeTime(jti) / 1000);
    const email = user.email === null ? {} : { email: user.email };
    const ends = sessionEndsAt === null ? null : Math.floor(sessionEndsAt / 1000);
    const session = {
      ...(ends === null ? {} : { session_ends: ends }),
      ...(renewed ? { renewed } : {}),
      ...(signedOn ? { signed_on: true } : {}),
    };
    return new SignJWT({ user_id: user.id, tenant_id: user.tenant_id, ...email, username: user.username, user_type: USER_TYPE, ...session })
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setJti(jti)
      .setIssuedAt(iat)
      .setExpirationTime(Math.min(iat + seconds, ends ?? Number.POSITIVE_INFINITY))
      .sign(this.key);
  }

  /** Null if it is not a token of this gateway; `expired` if it had expired at the time `at`, epoch milliseconds. */
  verify(token: string, at = this.clock.now()): PortalToken | "expired" | null | Promise<PortalToken | "expired" | null> {
    const known = this.verified.get(sha256Hex(token));
    if (known === undefined) return this.verifyNew(token, at);
    return known.expiresAt <= at ? "expired" : known;
  }

  private async verifyNew(token: string, at: number): Promise<PortalToken | "expired" | null> {
    try {
      const { payload } = await jwtVerify(token, this.key, {
        algorithms: ["HS256"],
        requiredClaims: ["user_id", "tenant_id", "exp", "iat"],
        currentDate: new Date(at),
      });
      const { user_id: userId, tenant_id: tenantId, user_type: userType, iat, exp, jti, session_ends: ends, renewed, signed_on } = payload;
      if (typeof userId !== "string" || typeof tenantId !== "string" || userType !== USER_TYPE || iat === undefined || exp === undefined)
        return null;
      const read: PortalToken = {
        userId,
        tenantId,
        issuedAt: issuedAt(iat, jti),
        expiresAt: exp * 1000,
        sessionEndsAt: typeof ends === "number" ? ends * 1000 : null,
        renewed: renewed === true,
        signedOn: signed_on === true,
      };
      this.verified.set(sha256Hex(token), read);
      return read;
    } catch (error) {
      return (error as { code?: string }).code === "ERR_JWT_EXPIRED" ? "expired" : null;
    }
  }

  /** Issued after a correct password while a code is still required. Accepted only for the second step. */
  issueSecondStep(user: TokenHolder): Promise<string> {
    const now = Math.floor(this.clock.now() / 1000);
    return new SignJWT({ tenant_id: user.tenant_id, gen: user.tokens_valid_from.getTime() })
      .setProtectedHeader({ alg: "HS256", typ: SECOND_STEP_TYPE })
      .setSubject(user.id)
      .setIssuedAt(now)
      .setExpirationTime(now + SECOND_STEP_SECONDS)
      .sign(this.secondStepKey);
  }

  async verifySecondStep(token: string): Promise<{ userId: string; tenantId: string; generation: number } | null> {
    try {
      const { payload } = await jwtVerify(token, this.secondStepKey, {
        algorithms: ["HS256"],
        typ: SECOND_STEP_TYPE,
        requiredClaims: ["sub", "exp", "gen"],
        currentDate: new Date(this.clock.now()),
      });
      const { sub, tenant_id: tenantId, gen } = payload;
      return sub === undefined || typeof tenantId !== "string" || typeof gen !== "number"
        ? null
        : { userId: sub, tenantId, generation: gen };
    } catch {
      return null;
    }
  }
}

function issuedAt(iat: number, jti: string | undefined): number {
  try {
    const exact = decodeTime(jti ?? "");
    if (Math.floor(exact / 1000) === iat) return exact;
  } catch {
    // The ID was made by another issuer.
  }
  return iat * 1000;
}

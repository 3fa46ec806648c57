import { hkdfSync } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import type { Clock } from "../../kernel/clock.ts";
import { ulid } from "../../kernel/ids.ts";

const TYPE = "gw-admin+jwt";
const AUDIENCE = "gw:admin";
const ISSUER = "gatehouse";

export interface AdminToken {
  readonly userId: string;
  /** The user's `tokens_valid_from` when it was issued, in milliseconds: another value now means that it ended. */
  readonly generation: number;
}

export interface AdminTokens {
  readonly expirySeconds: number;
  issue(user: { id: string; tenant_id: string | null; role: string; tokens_valid_from: Date }): Promise<string>;
  /** Null for whatever is no admin token; `expired` for one that was. */
  verify(token: string): Promise<AdminToken | "expired" | null>;
}

/**
 * Bearer tokens of the control plane (HS256). Their key is derived from the configured secret and their type and audience
 * are their own, so that a portal token is never an admin token and the other way round.
 */
export function adminTokens(settings: { secret: string; expirySeconds: number; clock: Clock }): AdminTokens {
  const key = new Uint8Array(hkdfSync("sha256", settings.secret, "", "gatehouse/admin-token", 32));
  return {
    expirySeconds: settings.expirySeconds,
    issue(user) {
      const now = Math.floor(settings.clock.now() / 1000);
      return new SignJWT({ tenant_id: user.tenant_id, role: user.role, gen: user.tokens_valid_from.getTime() })
        .setProtectedHeader({ alg: "HS256", typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(user.id)
        .setJti(ulid())
        .setIssuedAt(now)
        .setExpirationTime(now + settings.expirySeconds)
        .sign(key);
    },
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ["HS256"],
          typ: TYPE,
          audience: AUDIENCE,
          issuer: ISSUER,
          requiredClaims: ["sub", "exp", "gen"],
          currentDate: new Date(settings.clock.now()),
        });
        return typeof payload.gen === "number" && payload.sub !== undefined ? { userId: payload.sub, generation: payload.gen } : null;
      } catch (error) {
        return (error as { code?: string }).code === "ERR_JWT_EXPIRED" ? "expired" : null;
      }
    },
  };
}

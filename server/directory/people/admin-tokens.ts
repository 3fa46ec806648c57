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
 * Bearer tokens of the control plane (HS256). Their key is none that anybody is given: the secret of the portal's tokens
 * may be shared with who issues those, and must not make an administrator.
 */
export function adminTokens(settings: { key: Uint8Array; expirySeconds: number; clock: Clock }): AdminTokens {
  const { key } = settings;
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

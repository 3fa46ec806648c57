import type { SecretBox } from "../../kernel/secrets.ts";
import { openEnvelope, sealEnvelope } from "./envelope.ts";

/**
 * Tokens for clients of the broker. They stand for upstream tokens that the gateway keeps, name their holder, and are valid for one tool
 * server. The upstream's own tokens never leave the gateway this way.
 */

const ACCESS = "gwo_";
const REFRESH = "gwr_";
export const ACCESS_SECONDS = 3600;
const REFRESH_MS = 90 * 86_400_000;

/**
 * On whose behalf a token acts: whoever holds the key with this hash, or a user who authenticated at `since`. `signedOn`: through an
 * identity provider, as stated by their portal token.
 */
export type Holder =
  | { readonly kind: "key"; readonly hash: string }
  | { readonly kind: "user"; readonly tenantId: string; readonly userId: string; readonly since: number; readonly signedOn?: boolean };

export interface AccessClaims {
  readonly serverId: string;
  readonly holder: Holder;
  readonly grantId: string;
}

export interface RefreshClaims extends AccessClaims {
  readonly tenantId: string;
  readonly nonce: string;
  readonly clientHash: string;
  readonly scope: string;
}

export function looksLikeAccessToken(token: string): boolean {
  return token.startsWith(ACCESS);
}

export function looksLikeRefreshToken(token: string): boolean {
  return token.startsWith(REFRESH);
}

export function makeAccessToken(secrets: SecretBox, claims: AccessClaims, now: number): string {
  return ACCESS + sealEnvelope(secrets, "access", "", claims, now + ACCESS_SECONDS * 1000);
}

export function refreshToken(secrets: SecretBox, claims: RefreshClaims, now: number): string {
  return REFRESH + sealEnvelope(secrets, "refresh", "", claims, now + REFRESH_MS);
}

/** Null if it is not a token of this gateway or has expired. */
export function readAccessToken(secrets: SecretBox, token: string, now: number): AccessClaims | null {
  if (!looksLikeAccessToken(token)) return null;
  return openEnvelope<AccessClaims>(secrets, "access", "", token.slice(ACCESS.length), now);
}

export function readRefreshToken(secrets: SecretBox, token: string, now: number): RefreshClaims | null {
  if (!looksLikeRefreshToken(token)) return null;
  return openEnvelope<RefreshClaims>(secrets, "refresh", "", token.slice(REFRESH.length), now);
}

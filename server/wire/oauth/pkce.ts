import { hash, randomBytes } from "node:crypto";

/** A new PKCE verifier: 256 random bits as 43 base64url characters. */
export function newVerifier(): string {
  return randomBytes(32).toString("base64url");
}

/** The S256 challenge of a verifier (RFC 7636). */
export function challengeOf(verifier: string): string {
  return hash("sha256", verifier, "base64url");
}

/** Whether a text has the form of an S256 challenge. */
export function isChallenge(value: string): boolean {
  return /^[\w-]{43}$/.test(value);
}

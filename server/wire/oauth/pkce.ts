import { hash, randomBytes } from "node:crypto";

/** 43 URL-safe characters, 256 random bits. */
export function newVerifier(): string {
  return randomBytes(32).toString("base64url");
}

/** The S256 challenge of a verifier (RFC 7636). */
export function challengeOf(verifier: string): string {
  return hash("sha256", verifier, "base64url");
}

/** Whether a text may be a challenge of that method. */
export function isChallenge(value: string): boolean {
  return /^[\w-]{43}$/.test(value);
}

import { sha256Hex } from "../../kernel/secrets.ts";

/** The path segment that identifies an issuer in the broker's addresses. */
export function issuerId(issuer: string): string {
  return `idp-${sha256Hex(issuer).slice(0, 20)}`;
}

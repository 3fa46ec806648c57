import { decodeJwt, decodeProtectedHeader } from "jose";

/** The algorithms accepted from identity providers: asymmetric only, never a shared secret. */
export const SIGNATURE_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"];

/** Whether a token claims to be signed by somebody other than this gateway. The claim is unverified. */
export function isOfAnotherIssuer(token: string): boolean {
  try {
    return SIGNATURE_ALGORITHMS.includes(String(decodeProtectedHeader(token).alg));
  } catch {
    return false;
  }
}

export function issuerNamed(token: string): string | null {
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === "string" ? iss : null;
  } catch {
    return null;
  }
}

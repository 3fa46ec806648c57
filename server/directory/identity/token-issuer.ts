import { decodeJwt, decodeProtectedHeader } from "jose";
import { SIGNATURE_ALGORITHMS } from "../../kernel/verify-token.ts";

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

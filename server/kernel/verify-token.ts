import { errors, jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions, type JWTVerifyResult } from "jose";

/** The algorithms accepted from identity providers: asymmetric only, never a shared secret. */
export const SIGNATURE_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"];
/** Keys tried for a token that names none, so that a large key set cannot make verification expensive. */
const MAX_KEYS = 10;

/**
 * Verifies a token of an issuer. If several keys fit its header, each is tried, because issuers that name no key (`kid`)
 * publish two while they rotate them. Throws `JWKSNoMatchingKey` if the key may be a new one that is not in the set yet.
 */
export async function verifyToken(token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  let namesKey = true;
  const noted: JWTVerifyGetKey = (header, input) => {
    namesKey = header?.kid !== undefined;
    return keys(header, input);
  };
  try {
    return await jwtVerify(token, noted, options).catch((error: unknown) => {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyByAny(token, error, options);
      throw error;
    });
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed && !namesKey)
      throw new errors.JWKSNoMatchingKey(undefined, { cause: error });
    throw error;
  }
}

async function verifyByAny(token: string, keys: AsyncIterable<CryptoKey>, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  let tried = 0;
  for await (const key of keys) {
    if (++tried > MAX_KEYS) break;
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

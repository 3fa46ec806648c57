import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Card } from "./card.ts";

/** An Ed25519 key that signs a tenant's cards and notifications. */
export interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
}

export interface NewSigningKey {
  readonly kid: string;
  /** base64url, 32 bytes. */
  readonly publicKey: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
}

/** The key ID is the RFC 7638 thumbprint. */
export function newSigningKey(): NewSigningKey {
  const pair = generateKeyPairSync("ed25519");
  const { x = "" } = createPublicKey(pair.privateKey).export({ format: "jwk" });
  const kid = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");
  return { kid, publicKey: x, privateKey: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

export const openSigningKey = (kid: string, pem: string): SigningKey => ({ kid, key: createPrivateKey(pem) });

/** A JWK (RFC 7517) as RFC 8037 defines it for Ed25519. */
export const jwkOf = (kid: string, publicKey: string): Card => ({
  kty: "OKP",
  crv: "Ed25519",
  x: publicKey,
  kid,
  alg: "EdDSA",
  use: "sig",
});

const encoded = (text: string | Uint8Array) => Buffer.from(text).toString("base64url");

/** A JWS with detached payload (RFC 7515, appendix F). */
export function detachedJws(
  payload: string,
  { kid, key }: SigningKey,
  header: Card = {},
): { readonly protected: string; readonly signature: string } {
  const head = encoded(JSON.stringify({ alg: "EdDSA", typ: "JOSE", kid, ...header }));
  return { protected: head, signature: encoded(sign(null, Buffer.from(`${head}.${encoded(payload)}`), key)) };
}

/**
 * The card with one signature per key. It must hold no empty values: the signature covers the card as served, and
 * verifiers differ in how they drop empty values.
 */
export function signedCard(card: Card, keys: readonly SigningKey[]): Card {
  const payload = canonicalJson(card);
  return { ...card, signatures: keys.map((key) => ({ ...detachedJws(payload, key) })) };
}

import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import { decodeProtectedHeader, flattenedVerify, importJWK, type JWK } from "jose";
import type { AgentCardSignature } from "../../store/tables/agents.ts";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { cardsIn, type Card } from "./card.ts";

/** `unverified`: the card is signed, but no trusted keys are configured or the algorithm is not supported. */
export type CardSignatureState = AgentCardSignature;

/** One readable entry of a card's `signatures`. */
export interface ReadSignature {
  readonly protected: string;
  readonly signature: string;
  readonly alg: string;
  readonly kid: string;
  readonly jku: string | null;
}

const ALGORITHMS: ReadonlySet<string> = new Set([
  "EdDSA",
  "Ed25519",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
]);
const MAX_SIGNATURES = 10;
const MAX_LENGTH = 8_192;
/** How many keys with the same ID are tried. */
const MAX_KEYS = 4;

export const hasSignatures = (card: Card): boolean => Array.isArray(card.signatures) && card.signatures.length > 0;
export const isKnownAlgorithm = (alg: string): boolean => ALGORITHMS.has(alg);

/** The readable signatures; unreadable ones are ignored. */
export function readSignatures(card: Card): readonly ReadSignature[] {
  return cardsIn(card.signatures)
    .slice(0, MAX_SIGNATURES)
    .flatMap(({ protected: head, signature }) => {
      if (typeof head !== "string" || typeof signature !== "string" || head.length > MAX_LENGTH || signature.length > MAX_LENGTH) return [];
      try {
        const { alg, kid, jku } = decodeProtectedHeader({ protected: head });
        if (typeof alg !== "string" || typeof kid !== "string" || kid === "") return [];
        return [{ protected: head, signature, alg, kid, jku: typeof jku === "string" ? jku : null }];
      } catch {
        return [];
      }
    });
}

/** The first signature that one of the keys verifies; null if there is none. */
export async function heldSignature(
  card: Card,
  signatures: readonly ReadSignature[],
  keys: readonly Card[],
): Promise<ReadSignature | null> {
  const payloads = signedForms(card).map((text) => Buffer.from(text).toString("base64url"));
  for (const one of signatures) {
    if (!ALGORITHMS.has(one.alg)) continue;
    const named = keys.filter(({ kid }) => kid === undefined || kid === one.kid).slice(0, MAX_KEYS);
    for (const jwk of named) if (await holds(one, jwk, payloads)) return one;
  }
  return null;
}

async function holds({ protected: head, signature, alg }: ReadSignature, jwk: Card, payloads: readonly string[]): Promise<boolean> {
  try {
    const key = await importJWK(jwk as JWK, alg);
    // A shared secret does not prove who signed.
    if (key instanceof Uint8Array) return false;
    for (const payload of payloads) {
      const held = await flattenedVerify({ protected: head, signature, payload }, key, { algorithms: [alg] }).catch(() => null);
      if (held !== null) return true;
    }
  } catch {
    // The key's type does not match the signature's algorithm.
  }
  return false;
}

/**
 * The payloads that a signer may have signed: the card as served, in the form that the protocol prescribes for unset
 * values, and as the official SDKs write it (omitting every empty value, one of them also escaping non-ASCII characters).
 * All describe the same agent.
 */
export function signedForms(card: Card): readonly string[] {
  const { signatures: _signatures, ...rest } = card;
  const served = canonicalJson(rest);
  const signedText = canonicalJson(withoutUnset(rest, "", true));
  const shortest = canonicalJson(withoutUnset(rest, "", false));
  return [...new Set([served, signedText, shortest, asciiOf(shortest)])];
}

/** Members that the protocol requires, which are written even when empty. */
const REQUIRED: ReadonlySet<string> = new Set([
  "name",
  "description",
  "version",
  "supportedInterfaces",
  "capabilities",
  "defaultInputModes",
  "defaultOutputModes",
  "skills",
  "url",
  "protocolBinding",
  "protocolVersion",
  "id",
  "tags",
  "organization",
  "scheme",
  "location",
  "flows",
  "scopes",
  "tokenUrl",
  "authorizationUrl",
  "deviceAuthorizationUrl",
  "openIdConnectUrl",
]);
/** Booleans for which the protocol does not distinguish false from absent. */
const UNSET_WHEN_FALSE: ReadonlySet<string> = new Set(["required", "pkceRequired"]);

function withoutUnset(value: JsonValue, at: string, keepsRequired: boolean): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutUnset(item, at, keepsRequired));
    return keepsRequired ? items : items.filter((item) => !isEmpty(item));
  }
  if (!isObject(value)) return value;
  const kept: Card = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined || (member === false && UNSET_WHEN_FALSE.has(name))) continue;
    const inner = withoutUnset(member, name, keepsRequired);
    const isRequired = keepsRequired && REQUIRED.has(name) && !(name === "description" && at === "extensions");
    if (isRequired || !isEmpty(inner)) kept[name] = inner;
  }
  return kept;
}

function isEmpty(value: JsonValue): boolean {
  if (value === "" || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

const asciiOf = (text: string): string =>
  text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

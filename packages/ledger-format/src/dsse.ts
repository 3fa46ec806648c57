import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { canonicalJson } from "./admin-entry.ts";
import { namedTwice } from "./named-twice.ts";
import { keyObjectOf, noteKey } from "./signed-note.ts";

/**
 * in-toto statements (v1) in DSSE envelopes (v1), signed with the Ed25519 key that signs the ledger's checkpoints. Verifying one takes
 * nothing but the public key.
 */

const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const PAYLOAD_TYPE = "application/vnd.in-toto+json";

export interface Statement<Predicate> {
  readonly _type: typeof STATEMENT_TYPE;
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicateType: string;
  readonly predicate: Predicate;
}

interface Envelope {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

/** The bytes to sign (DSSE PAE): payload type and payload, each with its length, so that neither can be taken for the other. */
function signedBytes(payload: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.byteLength} `), payload]);
}

/**
 * Returns the envelope on one line. `keyName` is bound into the key ID, so that signatures of one kind of document name no key of another.
 * `subject` maps names to their SHA-256. `pem` is an Ed25519 private key.
 */
export function signedStatement<Predicate>(
  keyName: string,
  predicateType: string,
  subject: Readonly<Record<string, string>>,
  predicate: Predicate,
  pem: string,
): string {
  const statement: Statement<Predicate> = {
    _type: STATEMENT_TYPE,
    subject: Object.entries(subject).map(([name, digest]) => ({ name, digest: { sha256: digest } })),
    predicateType,
    predicate,
  };
  const payload = Buffer.from(canonicalJson(statement));
  const key = createPrivateKey(pem);
  const { keyId } = noteKey(keyName, createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32));
  const envelope: Envelope = {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString("base64"),
    signatures: [{ keyid: keyId, sig: sign(null, signedBytes(payload), key).toString("base64") }],
  };
  return `${JSON.stringify(envelope)}\n`;
}

/** `publicKey`: the 32 bytes of the signing key in base64, as the gateway lists them. */
export type OpenedStatement<Predicate> =
  | { readonly publicKey: string; readonly statement: Statement<Predicate> }
  | { readonly reason: string };

/** Verifies an envelope. `publicKeys`: 32 bytes each. `what` names the document in the reason. The predicate's members are not checked. */
export function openStatement<Predicate>(
  text: string,
  keyName: string,
  predicateType: string,
  what: string,
  publicKeys: readonly Uint8Array[],
): OpenedStatement<Predicate> {
  const envelope = parsed(text) as Partial<Envelope> | null;
  if (typeof envelope !== "object" || envelope === null || typeof envelope.payload !== "string" || !Array.isArray(envelope.signatures))
    return { reason: "it is not a signed envelope" };
  const twice = namedTwice(text.trim(), envelope);
  if (twice !== null) return { reason: `it names ${JSON.stringify(twice)} twice` };
  if (envelope.payloadType !== PAYLOAD_TYPE) return { reason: "it holds no in-toto statement" };
  const payload = Buffer.from(envelope.payload, "base64");
  // Decoders ignore the spare bits of base64, so only the canonical encoding is accepted.
  if (payload.toString("base64") !== envelope.payload) return { reason: "its payload is not written as it was signed" };
  const keys = publicKeys.map((key) => noteKey(keyName, key));
  const signedBy = keys.find((key) =>
    envelope.signatures?.some(
      (one) =>
        one?.keyid === key.keyId && verify(null, signedBytes(payload), keyObjectOf(key.publicKey), Buffer.from(String(one.sig), "base64")),
    ),
  );
  if (signedBy === undefined) return { reason: "no signature of it is by a key that was given" };
  const statement = parsed(payload.toString()) as Statement<Predicate> | null;
  if (statement?.["_type"] !== STATEMENT_TYPE || statement.predicateType !== predicateType) return { reason: `it is no ${what}` };
  return { publicKey: signedBy.publicKey, statement };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { canonicalJson } from "./admin-entry.ts";
import { keyObjectOf, noteKey } from "./signed-note.ts";

/**
 * Certificates of AI Systems: an in-toto statement (v1) in a DSSE envelope (v1), signed with Ed25519 by the key that signs
 * the ledger's checkpoints. Nothing but that key's public half is needed to verify one.
 */

export const CERTIFICATE_TYPE = "ai.gw/certificate/v1";
const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const KEY_NAME = "gw.certificate";

export interface CertificateStatement {
  readonly _type: typeof STATEMENT_TYPE;
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicateType: typeof CERTIFICATE_TYPE;
  readonly predicate: CertificatePredicate;
}

export interface CertificatePredicate {
  readonly snapshot_id: string;
  /** ISO 8601, UTC. */
  readonly captured_at: string;
  readonly valid_until: string;
  readonly result: "PASSED" | "FAILED";
  /** SHA-256 of the canonical text of `report`. */
  readonly report_digest: string;
  readonly report: unknown;
  /** What the certificate does not say. */
  readonly limits: readonly string[];
}

interface Envelope {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

/** What is signed: the payload with its type, each with its length, so that neither can pass for the other. */
function signedBytes(payload: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.byteLength} `), payload]);
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** `subject`: names with their SHA-256. `pem`: an Ed25519 private key. */
export function signedCertificate(
  subject: Readonly<Record<string, string>>,
  predicate: Omit<CertificatePredicate, "report_digest">,
  pem: string,
): string {
  const statement: CertificateStatement = {
    _type: STATEMENT_TYPE,
    subject: Object.entries(subject).map(([name, digest]) => ({ name, digest: { sha256: digest } })),
    predicateType: CERTIFICATE_TYPE,
    predicate: { ...predicate, report_digest: sha256(canonicalJson(predicate.report)) },
  };
  const payload = Buffer.from(canonicalJson(statement));
  const key = createPrivateKey(pem);
  const { keyId } = noteKey(KEY_NAME, createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32));
  const envelope: Envelope = {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString("base64"),
    signatures: [{ keyid: keyId, sig: sign(null, signedBytes(payload), key).toString("base64") }],
  };
  return `${JSON.stringify(envelope)}\n`;
}

export type CertificateVerdict =
  | { readonly verdict: "valid" | "expired"; readonly keyId: string; readonly statement: CertificateStatement }
  | { readonly verdict: "invalid"; readonly reason: string };

const invalid = (reason: string): CertificateVerdict => ({ verdict: "invalid", reason });

/** `publicKeys`: 32 bytes each. `now`: milliseconds since the epoch. Whether it was revoked since, only its gateway knows. */
export function verifyCertificate(text: string, publicKeys: readonly Uint8Array[], now: number): CertificateVerdict {
  const envelope = parsed(text) as Partial<Envelope> | null;
  if (typeof envelope !== "object" || envelope === null || typeof envelope.payload !== "string" || !Array.isArray(envelope.signatures))
    return invalid("it is not a signed envelope");
  if (envelope.payloadType !== PAYLOAD_TYPE) return invalid("it holds no in-toto statement");
  const payload = Buffer.from(envelope.payload, "base64");
  // Spare bits of base64 can be anything to a decoder.
  if (payload.toString("base64") !== envelope.payload) return invalid("its payload is not written as it was signed");
  const keys = publicKeys.map((key) => noteKey(KEY_NAME, key));
  const signedBy = keys.find((key) =>
    envelope.signatures?.some(
      ({ keyid, sig }) =>
        keyid === key.keyId && verify(null, signedBytes(payload), keyObjectOf(key.publicKey), Buffer.from(String(sig), "base64")),
    ),
  );
  if (signedBy === undefined) return invalid("no signature of it is by a key that was given");
  const statement = parsed(payload.toString()) as CertificateStatement | null;
  if (statement?.["_type"] !== STATEMENT_TYPE || statement.predicateType !== CERTIFICATE_TYPE)
    return invalid("it is no certificate of an AI System");
  const { predicate } = statement;
  if (sha256(canonicalJson(predicate.report)) !== predicate.report_digest) return invalid("its report is not the one its digest is of");
  return { verdict: Date.parse(predicate.valid_until) > now ? "valid" : "expired", keyId: signedBy.keyId, statement };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

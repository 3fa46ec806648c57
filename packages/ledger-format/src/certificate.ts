import { createHash } from "node:crypto";
import { canonicalJson } from "./admin-entry.ts";
import { openStatement, signedStatement, type Statement } from "./dsse.ts";

/** Certificates of AI Systems: a report at one point in time that can be verified without the gateway. */

export const CERTIFICATE_TYPE = "ai.gw/certificate/v1";
const KEY_NAME = "gw.certificate";

export interface CertificatePredicate {
  readonly snapshot_id: string;
  /** ISO 8601, UTC. */
  readonly captured_at: string;
  readonly valid_until: string;
  readonly result: "PASSED" | "FAILED";
  /** Hex SHA-256 of the canonical text of `report`. */
  readonly report_digest: string;
  readonly report: unknown;
  /** What the certificate does not claim. */
  readonly limits: readonly string[];
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** `subject` maps names to their SHA-256. `pem` is an Ed25519 private key. */
export function signedCertificate(
  subject: Readonly<Record<string, string>>,
  predicate: Omit<CertificatePredicate, "report_digest">,
  pem: string,
): string {
  const whole: CertificatePredicate = { ...predicate, report_digest: sha256(canonicalJson(predicate.report)) };
  return signedStatement(KEY_NAME, CERTIFICATE_TYPE, subject, whole, pem);
}

export type CertificateVerdict =
  | { readonly verdict: "valid" | "expired"; readonly publicKey: string; readonly statement: Statement<CertificatePredicate> }
  | { readonly verdict: "invalid"; readonly reason: string };

/**
 * `publicKeys`: 32 bytes each. `now`: milliseconds since the epoch. Does not detect revocation, which only the issuing gateway knows of.
 */
export function verifyCertificate(text: string, publicKeys: readonly Uint8Array[], now: number): CertificateVerdict {
  const opened = openStatement<CertificatePredicate>(text, KEY_NAME, CERTIFICATE_TYPE, "certificate of an AI System", publicKeys);
  if ("reason" in opened) return { verdict: "invalid", reason: opened.reason };
  const { predicate } = opened.statement;
  if (sha256(canonicalJson(predicate.report)) !== predicate.report_digest)
    return { verdict: "invalid", reason: "its report is not the one its digest is of" };
  return { verdict: Date.parse(predicate.valid_until) > now ? "valid" : "expired", ...opened };
}

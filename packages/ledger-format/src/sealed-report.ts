import { createHash } from "node:crypto";
import { canonicalJson } from "./admin-entry.ts";
import { openStatement, signedStatement, type Statement } from "./dsse.ts";

/** Sealed compliance reports: a report as of one point in time, with the heads of the chains it was computed from. */

export const SEALED_REPORT_TYPE = "ai.gw/compliance-report/v1";
const KEY_NAME = "gw.report";

export interface SealedReportPredicate {
  readonly report_id: string;
  readonly tenant_id: string;
  readonly framework: string;
  /** ISO 8601, UTC; `to` is exclusive. */
  readonly window: { readonly from: string; readonly to: string };
  readonly sealed_at: string;
  readonly sealed_by: string | null;
  /** Hex SHA-256 of the canonical text of `report`. */
  readonly report_digest: string;
  readonly report: unknown;
  /** The head of each row chain at that time: a recount includes rows up to here. */
  readonly ledger: readonly { readonly chain_id: string; readonly seq: number; readonly row_hash: string }[];
  /** The head of the admin log at that time. */
  readonly admin_log: { readonly seq: number; readonly entry_hash: string };
  /** What the report does not claim. */
  readonly limits: readonly string[];
}

/** Hex SHA-256 of a report's canonical text (RFC 8785). */
export const reportDigest = (report: unknown): string => createHash("sha256").update(canonicalJson(report)).digest("hex");

/** `pem`: an Ed25519 private key. */
export function signedReport(predicate: Omit<SealedReportPredicate, "report_digest">, pem: string): string {
  const digest = reportDigest(predicate.report);
  const subject = { [`compliance-report:${predicate.framework}:${predicate.window.from}:${predicate.window.to}`]: digest };
  return signedStatement(KEY_NAME, SEALED_REPORT_TYPE, subject, { ...predicate, report_digest: digest }, pem);
}

export type SealedReportVerdict =
  | { readonly verdict: "valid"; readonly publicKey: string; readonly statement: Statement<SealedReportPredicate> }
  | { readonly verdict: "invalid"; readonly reason: string };

/** `publicKeys`: 32 bytes each. */
export function verifySealedReport(text: string, publicKeys: readonly Uint8Array[]): SealedReportVerdict {
  const opened = openStatement<SealedReportPredicate>(text, KEY_NAME, SEALED_REPORT_TYPE, "sealed compliance report", publicKeys);
  if ("reason" in opened) return { verdict: "invalid", reason: opened.reason };
  const { predicate } = opened.statement;
  if (reportDigest(predicate.report) !== predicate.report_digest)
    return { verdict: "invalid", reason: "its report is not the one its digest is of" };
  return { verdict: "valid", ...opened };
}

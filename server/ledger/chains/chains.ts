import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import { type SavedCheckpoint, savedAnchors } from "@gatehouse/ledger-format/anchors";
import type { Anchor } from "@gatehouse/ledger-format/chain-facts";
import type { TrustedKey } from "@gatehouse/ledger-format/checkpoint";
import { CHECKPOINT_KEY_NAME } from "@gatehouse/ledger-format/checkpoint";
import { printExportLine } from "@gatehouse/ledger-format/export";
import { noteKey } from "@gatehouse/ledger-format/signed-note";
import type { Verification, VerificationFinding } from "@gatehouse/ledger-format/verdict";
import { createVerifier } from "@gatehouse/ledger-format/verify";
import { sql } from "kysely";
import { invalidFields, Refused, refuse } from "../../kernel/errors.ts";
import { acknowledgedFindings } from "../../store/ledger/chain-acknowledgements.ts";
import type { Database, Trx } from "../../store/database.ts";
import { verifyAdminChain } from "./admin-chain.ts";
import { listChains, readChainFacts } from "./chain-facts.ts";
import { readChainSnapshot } from "./chain-snapshot.ts";
import { listSigningKeys, trustedKeys } from "../checkpoints/signing-keys.ts";

/** A finding and its acknowledgement, if any. */
export interface MarkedFinding extends VerificationFinding {
  readonly acknowledged_at: string | null;
  readonly acknowledged_by: string | null;
  readonly note: string | null;
}

export interface ChainVerification extends Verification {
  readonly findings: MarkedFinding[];
  /** Number of unacknowledged findings, including those not listed. */
  readonly unacknowledged: number;
  /** ISO 8601 UTC: the database's time of the snapshot that was verified. */
  readonly as_of: string;
  readonly duration_ms: number;
}

interface Range {
  readonly fromSeq?: number | undefined;
  readonly toSeq?: number | undefined;
}

export interface VerifyChainOptions extends Range {
  /**
   * The reader's tenant. Rows of others are verified too, but their IDs are withheld. Acknowledgements are those visible to this tenant.
   */
  readonly tenantId?: string | undefined;
  /** Public keys (32 bytes) to trust instead of those listed in the database. */
  readonly publicKeys?: readonly Uint8Array[] | undefined;
  /** Heads known from a source other than the database, such as the live writer's `shippedSeq` and `shippedHash`. */
  readonly knownHeads?: readonly Anchor[] | undefined;
  /** Checkpoints kept outside the database: the chain must contain the rows they cover. */
  readonly saved?: readonly SavedCheckpoint[] | undefined;
  /** Maximum number of findings listed; further ones are only counted. */
  readonly maxFindings?: number | undefined;
}

export const noSuchChain = () => new Refused(refuse("not_found", "There is no such audit chain."));

async function keysFor(db: Database, publicKeys: readonly Uint8Array[] | undefined): Promise<TrustedKey[]> {
  const listed = trustedKeys(await listSigningKeys(db));
  if (publicKeys === undefined || publicKeys.length === 0) return listed;
  return publicKeys.map((bytes) => {
    const key = noteKey(CHECKPOINT_KEY_NAME, bytes);
    return (
      listed.find((other) => other.publicKey === key.publicKey && other.name === key.name) ?? { ...key, validFrom: null, validTo: null }
    );
  });
}

function checkRange({ fromSeq, toSeq }: VerifyChainOptions): void {
  const problems = Object.entries({ from_seq: fromSeq, to_seq: toSeq })
    .filter(([, value]) => value !== undefined && (!Number.isSafeInteger(value) || (value as number) < 1))
    .map(([field]) => ({ field, message: "must be an integer from 1" }));
  if (problems.length === 0 && fromSeq !== undefined && toSeq !== undefined && toSeq < fromSeq)
    problems.push({ field: "to_seq", message: "must not be before from_seq" });
  if (problems.length > 0) throw invalidFields("invalid_body", problems);
}

/** Whether the finding may be the part of a larger gap that reaches into the range. */
const isCut = ({ verdict, chain_seq: from, through_seq: to, row_id: row }: VerificationFinding, range: Range): boolean =>
  verdict === "missing" && row === null && (from === range.fromSeq || to === range.toSeq);

/** Adds acknowledgements to the findings. Part of an acknowledged gap, as seen in a range, takes the ID of the whole gap. */
export async function marked(
  db: Database | Trx,
  verification: Verification & Pick<ChainVerification, "as_of" | "duration_ms">,
  tenantId: string | null,
  range: Range = {},
): Promise<ChainVerification> {
  const { findings, findings_total: total } = verification;
  const known = findings.length === 0 ? new Map<string, never>() : await acknowledgedFindings(db, verification.chain_id, tenantId);
  const gapAround = ({ chain_seq: from, through_seq: to }: VerificationFinding) =>
    [...known.values()].find((one) => one.verdict === "missing" && one.chain_seq <= from && one.through_seq >= to);
  const reportedFindings = findings.map((finding) => {
    const by = known.get(finding.id) ?? (isCut(finding, range) ? gapAround(finding) : undefined);
    if (by === undefined) return { ...finding, acknowledged_at: null, acknowledged_by: null, note: null };
    const { finding_id: id, acknowledged_at: at, acknowledged_by, note } = by;
    return { ...finding, id, acknowledged_at: at.toISOString(), acknowledged_by, note };
  });
  return {
    ...verification,
    findings: reportedFindings,
    unacknowledged: total - reportedFindings.filter(({ acknowledged_at: at }) => at !== null).length,
  };
}

/** Verifies a chain as of one snapshot. Throws `Refused`: not_found, or invalid_body for a bad range. */
export async function verifyChain(db: Database, chainId: string, options: VerifyChainOptions = {}): Promise<ChainVerification> {
  checkRange(options);
  const started = performance.now();
  const { fromSeq, toSeq, tenantId, saved: kept = [], maxFindings } = options;
  const keys = await keysFor(db, options.publicKeys);
  // A checkpoint is copied out only once it is in the database, so all copies must be in the chain, whatever their times say.
  const knownHeads = [...(options.knownHeads ?? []), ...(toSeq === undefined ? savedAnchors(kept, chainId, keys) : [])];
  const ended = (result: Verification & Pick<ChainVerification, "as_of">) =>
    marked(db, { ...result, duration_ms: Math.round(performance.now() - started) }, tenantId ?? null, options);
  if (chainId === ADMIN_CHAIN) return ended(await verifyAdminChain(db, { keys, tenantId, knownHeads, maxFindings }));
  for await (const { chain, entries } of readChainSnapshot(db, chainId, tenantId)) {
    const verifier = createVerifier({
      chain,
      keys,
      now: chain.exported_at,
      ...(fromSeq === undefined ? {} : { fromSeq }),
      ...(toSeq === undefined ? {} : { toSeq }),
      ...(maxFindings === undefined ? {} : { maxFindings }),
      knownHeads,
    });
    for await (const batch of entries({ tenantId, fromSeq, toSeq })) {
      for (const entry of batch) {
        if (entry.type === "proven") verifier.proven(entry.row, entry.withheld);
        else if (entry.type === "row") verifier.row(entry.row, entry.withheld);
        else if (entry.type === "checkpoint") verifier.checkpoint(entry);
        else verifier.pruned(entry);
      }
    }
    return ended({ ...verifier.end(), as_of: chain.exported_at });
  }
  throw noSuchChain();
}

/**
 * Every checkpoint of a chain, or of all chains and the admin log, as export lines. The first `next()` throws `Refused` if there is no such
 * chain.
 */
export async function* checkpointLines(db: Database, chainId: string | undefined): AsyncGenerator<string> {
  if (chainId !== undefined && chainId !== ADMIN_CHAIN && (await readChainFacts(db, chainId)) === null) throw noSuchChain();
  const chains = chainId === undefined ? [...(await listChains(db)).map((chain) => chain.chain_id), ADMIN_CHAIN] : [chainId];
  for (const id of chains) {
    for (let after = 0; ;) {
      const from =
        id === ADMIN_CHAIN
          ? sql`admin_log_checkpoints WHERE checkpoint_no > ${after}`
          : sql`audit_checkpoints WHERE chain_id = ${id} AND checkpoint_no > ${after}`;
      const { rows } = await sql<{
        checkpoint_no: number;
        chain_seq: number;
        note: string;
      }>`SELECT checkpoint_no, chain_seq, note FROM ${from} ORDER BY checkpoint_no LIMIT 500`.execute(db);
      for (const { chain_seq, note } of rows) yield printExportLine({ type: "checkpoint", chain_seq, note });
      if (rows.length < 500) break;
      after = rows.at(-1)?.checkpoint_no ?? after;
    }
  }
}

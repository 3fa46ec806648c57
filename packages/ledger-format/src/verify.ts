import { type AdminEntry, entryMark } from "./admin-entry.ts";
import { BeyondRange } from "./beyond-range.ts";
import { possibleHashes, rowMark } from "./canonical.ts";
import type { Anchor, ChainFacts, PrunedPrefix, RowLink } from "./chain-facts.ts";
import { ChainWalk } from "./chain-walk.ts";
import { checkpointTrail, type CheckpointLine, type CheckpointTrail } from "./checkpoint-trail.ts";
import type { Checkpoint, TrustedKey } from "./checkpoint.ts";
import type { AuditRow } from "./fields.ts";
import { givenInstead, possibleEntryHashes, type SealedRow, sealedEntry } from "./sealed-row.ts";
import { collectFindings, type FindingCollector, type Verification } from "./verdict.ts";

export interface VerifierOptions {
  readonly chain: ChainFacts;
  readonly keys: readonly TrustedKey[];
  /** When the rows were read: ISO 8601 UTC with six decimals. */
  readonly now: string;
  /** The part of the chain to verify. Of earlier rows at most the last is passed in; of later ones only those up to the next checkpoint. */
  readonly fromSeq?: number;
  readonly toSeq?: number;
  /** Chain heads known from a source other than the rows; the chain must reach them. */
  readonly knownHeads?: readonly Anchor[];
  readonly maxFindings?: number;
}

/**
 * Takes rows in the order of chain_seq, each checkpoint after the row it covers, and keeps only the last row. For a range, the newest
 * checkpoint before its start comes first, then the row before its start, if there is one.
 */
export interface Verifier {
  /** A withheld row is fully checked, but findings do not name it. */
  row(row: AuditRow, withheld?: boolean): void;
  /** Takes a row whose content was already found to match its `row_hash`. */
  proven(row: SealedRow, withheld?: boolean): void;
  /** Takes an admin log entry instead of a row. */
  entry(entry: AdminEntry, withheld?: boolean): void;
  link(link: RowLink): void;
  checkpoint(line: CheckpointLine): void;
  pruned(prefix: PrunedPrefix): void;
  end(): Verification;
}

const MAX_FINDINGS = 1_000;

export function createVerifier(options: VerifierOptions): Verifier {
  return new ChainVerifier(options);
}

class ChainVerifier implements Verifier {
  private readonly options: VerifierOptions;
  private readonly chain: ChainFacts;
  private readonly toSeq: number;
  private readonly findings: FindingCollector;
  private readonly trail: CheckpointTrail;
  private readonly walk: ChainWalk;
  private readonly beyondRange: BeyondRange;
  private newestCheckpointLine = 0;
  private rowsChecked = 0;
  private rowsWithheld = 0;
  private checkpointsChecked = 0;
  private bodiesExpired = 0;
  private bodiesErased = 0;
  private prunedThrough: number | null = null;
  private strayPruned: number | null = null;

  constructor(options: VerifierOptions) {
    const { chain, toSeq = Number.POSITIVE_INFINITY } = options;
    this.options = options;
    this.chain = chain;
    this.toSeq = toSeq;
    this.findings = collectFindings(chain.chain_id, options.maxFindings ?? MAX_FINDINGS);
    const trail = checkpointTrail(chain.chain_id, options.keys);
    this.trail = trail;
    this.walk = new ChainWalk({
      chain,
      ...(options.fromSeq === undefined ? {} : { fromSeq: options.fromSeq }),
      ...(options.knownHeads === undefined ? {} : { knownHeads: options.knownHeads }),
      findings: this.findings,
      startMissing: () => trail.forget(),
      rowsMissing: (from, to) => trail.missing(from, to),
    });
    this.beyondRange = new BeyondRange(toSeq);
  }

  row(row: AuditRow, withheld = false): void {
    this.sealed(row, possibleHashes(row), withheld, () => rowMark(row));
  }

  proven(row: SealedRow, withheld = false): void {
    this.sealed(row, [row.row_hash as string], withheld, () => "");
  }

  entry(entry: AdminEntry, withheld = false): void {
    this.sealed(sealedEntry(entry), possibleEntryHashes(entry), withheld, () => entryMark(entry));
  }

  link(link: RowLink): void {
    const { walk } = this;
    const altered = link.hashes_to !== undefined;
    const chainSeq = link.chain_seq;
    const hashes = [link.row_hash, ...(link.hashes_to ?? [])];
    if (walk.isBefore(chainSeq)) {
      walk.precede(chainSeq, hashes);
      return;
    }
    walk.start();
    if (this.past({ chainSeq, rowId: null, prevHash: link.prev_hash, hashes: altered ? [] : [link.row_hash] })) return;
    this.rowsWithheld += 1;
    const where = Number.isSafeInteger(chainSeq) ? chainSeq : walk.expected;
    if (altered)
      this.findings.addAt("altered", where, null, `row ${chainSeq} did not have the hash it was sealed with when it was exported`, hashes);
    walk.place(link.prev_hash, { chainSeq, rowId: null, hashes, flagged: altered }, link.created_at ?? undefined);
  }

  checkpoint(line: CheckpointLine): void {
    const { walk } = this;
    const isBeyond = line.chain_seq > this.toSeq;
    if (!isBeyond) {
      this.checkpointsChecked += 1;
      this.newestCheckpointLine = Math.max(this.newestCheckpointLine, line.chain_seq);
    }
    const isContext = !walk.started && walk.ranged && line.chain_seq < walk.expected;
    const { checkpoint, signed, problem, before } = isContext ? this.trail.resume(line) : this.trail.next(line);
    const rowId = walk.last?.chainSeq === line.chain_seq ? walk.last.rowId : null;
    if (problem !== null)
      this.findings.addAt(
        "checkpoint_invalid",
        line.chain_seq,
        rowId,
        `the checkpoint at row ${line.chain_seq} does not hold: ${problem}`,
        [line.note, before],
      );
    if (checkpoint === null || !signed || checkpoint.chainSeq !== line.chain_seq) return;
    const { chainSeq, rowHash } = checkpoint;
    if (isBeyond) this.signedBeyond(checkpoint);
    else if (isContext) {
      if (chainSeq === walk.expected - 1) walk.links = [rowHash];
    } else if (walk.last?.chainSeq === chainSeq) walk.signed(rowHash);
    else if (chainSeq >= walk.expected) walk.ahead = { chainSeq, rowHash };
    else if (walk.last !== null)
      this.findings.addAt("checkpoint_invalid", chainSeq, null, `the checkpoint at row ${chainSeq} stands outside the order of the chain`, [
        line.note,
      ]);
  }

  pruned(prefix: PrunedPrefix): void {
    const { walk } = this;
    if (walk.ranged) return;
    // Accepted only before the rows, and only if it ends where the chain begins; otherwise it could hide missing rows.
    if (walk.started || this.prunedThrough !== null || prefix.through_seq + 1 !== this.chain.first_seq) {
      this.strayPruned ??= Number.isSafeInteger(prefix.through_seq) ? prefix.through_seq : walk.expected;
      return;
    }
    const { checkpoint, signed, problem } = this.trail.resume({ chain_seq: prefix.through_seq, note: prefix.checkpoint });
    this.checkpointsChecked += 1;
    this.newestCheckpointLine = prefix.through_seq;
    this.prunedThrough = prefix.through_seq;
    const wrong = problem ?? (checkpoint?.rowHash === prefix.row_hash ? null : "it was signed for another row");
    if (wrong !== null)
      this.findings.addAt(
        "checkpoint_invalid",
        prefix.through_seq,
        null,
        `the checkpoint over the rows retention dropped does not hold: ${wrong}`,
        [prefix.checkpoint, prefix.row_hash],
      );
    walk.expected = prefix.through_seq + 1;
    walk.links = signed && checkpoint !== null ? [checkpoint.rowHash] : [prefix.row_hash];
  }

  end(): Verification {
    const { walk, findings } = this;
    walk.start();
    walk.leave();
    this.checkEnd();
    const pending = this.checkCoverage();
    // If rows are missing, that was already reported.
    if (this.strayPruned !== null && findings.total === 0)
      this.findings.addAt(
        "broken_link",
        this.strayPruned,
        null,
        `rows up to ${this.strayPruned} are told as dropped by retention, and were not`,
        ["pruned"],
      );
    return {
      chain_id: this.chain.chain_id,
      verdict: findings.verdict,
      findings: findings.list,
      findings_total: findings.total,
      rows_checked: this.rowsChecked,
      rows_withheld: this.rowsWithheld,
      checkpoints_checked: this.checkpointsChecked,
      head: walk.last === null ? null : { chain_seq: walk.last.chainSeq, row_hash: this.lastHash() },
      pending_anchor: pending,
      bodies_expired: this.bodiesExpired,
      bodies_erased: this.bodiesErased,
      pruned_through: this.prunedThrough,
    };
  }

  /** Handles the checkpoint that covers the end of the range, if the rows in between link to it. */
  private signedBeyond(checkpoint: Checkpoint): void {
    const { walk, beyondRange } = this;
    const other = beyondRange.contradicted(checkpoint);
    if (other !== null) walk.notSigned(other, checkpoint.rowHash);
    else if (beyondRange.leadsTo(checkpoint)) walk.coverage.cover();
  }

  /** True if the row is after the range; then it only links to the next checkpoint. */
  private past(row: Parameters<BeyondRange["follow"]>[0]): boolean {
    const { walk, beyondRange } = this;
    if (!beyondRange.has(row.chainSeq)) return false;
    if (!beyondRange.follow(row, walk.last)) walk.unlinked(row, row.prevHash ?? "", walk.last?.hashes ?? []);
    return true;
  }

  private sealed(row: SealedRow, possible: readonly string[], withheld: boolean, mark: () => string): void {
    const { walk } = this;
    const chainSeq = row.chain_seq as number;
    const stored = row.row_hash ?? "";
    const altered = !possible.includes(stored);
    const hashes = altered ? [stored, ...givenInstead(possible, mark)] : [stored];
    // An edited field may have any type.
    const rowId = !withheld && typeof row.id === "string" ? row.id : null;
    if (walk.isBefore(chainSeq)) {
      walk.precede(chainSeq, hashes);
      return;
    }
    walk.start();
    if (this.past({ chainSeq, rowId, prevHash: row.prev_hash, hashes: altered ? [] : [stored] })) return;
    this.rowsChecked += 1;
    if (withheld) this.rowsWithheld += 1;
    else if (row.bodies_pruned_at != null) this.bodiesExpired += 1;
    if (!withheld && row.erased_at != null) this.bodiesErased += 1;
    const where = Number.isSafeInteger(chainSeq) ? chainSeq : walk.expected;
    const { chain_id } = this.chain;
    if (row.chain_id !== chain_id)
      this.findings.addAt("broken_link", where, rowId, `the row names another chain than ${chain_id}`, [row.chain_id]);
    if (altered) this.findings.addAt("altered", where, rowId, `row ${chainSeq} does not have the hash it was sealed with`, hashes);
    // In an altered row, either the content or the stored hash is false; the next row may name the true one.
    walk.place(row.prev_hash, { chainSeq, rowId, hashes, flagged: altered }, typeof row.created_at === "string" ? row.created_at : null);
  }

  /** Reports rows or a checkpoint that were recorded and are missing, and rows that were never recorded. */
  private checkEnd(): void {
    const { walk, toSeq } = this;
    let recorded = this.trail.newestSeq;
    for (const seq of walk.heads.keys()) recorded = Math.max(recorded, seq);
    const target = Math.min(toSeq, recorded);
    if (walk.expected <= target) walk.missing(walk.expected, target);
    const announced = this.chain.last_checkpoint_seq ?? 0;
    if (toSeq === Number.POSITIVE_INFINITY && announced > this.newestCheckpointLine)
      this.findings.addAt("missing", announced, null, `the checkpoint over row ${announced} is missing`, ["checkpoint"]);
    if (walk.beyond === null) return;
    const { chainSeq, rowId, rows } = walk.beyond;
    const detail = `the writer's record of the chain ends before row ${chainSeq}: ${rows} row(s) were added behind its back`;
    const through_seq = chainSeq + rows - 1;
    this.findings.add({
      verdict: "unanchored",
      chain_seq: chainSeq,
      through_seq,
      row_id: rowId,
      detail,
      seen: ["beyond", this.lastHash()],
    });
  }

  /** Number of rows at the end that wait for a checkpoint. */
  private checkCoverage(): number {
    const { isOver } = this.beyondRange;
    const times = { newestCheckpoint: this.trail.newestTime, shippedAt: this.chain.updated_at, now: this.options.now };
    const { pending, overdue } = this.walk.coverage.result(times, isOver);
    if (overdue !== null) {
      const why = isOver ? "do not lead on to the next checkpoint" : "are under no checkpoint although their time has passed";
      const detail = `${pending} row(s) from ${overdue.chainSeq} on ${why}`;
      const place = { chain_seq: overdue.chainSeq, through_seq: overdue.throughSeq, row_id: overdue.rowId };
      this.findings.add({ verdict: "unanchored", ...place, detail, seen: [this.lastHash()] });
    }
    return pending;
  }

  private lastHash(): string {
    return this.walk.last?.hashes[0] ?? "";
  }
}

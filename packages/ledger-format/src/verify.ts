import { adminEntryHash, ADMIN_CHAIN, type AdminEntry } from "./admin-entry.ts";
import { GENESIS_HASH, NotCanonical, possibleHashes } from "./canonical.ts";
import type { Anchor, ChainFacts, PrunedPrefix, RowLink } from "./chain-facts.ts";
import { checkpointTrail, type CheckpointLine } from "./checkpoint-trail.ts";
import type { TrustedKey } from "./checkpoint.ts";
import { trackCoverage } from "./coverage.ts";
import type { AuditRow } from "./fields.ts";
import { collectFindings, type Verification } from "./verdict.ts";

/** What a verification asks of a row beside its hash. */
export type SealedRow = Pick<
  AuditRow,
  "id" | "chain_id" | "chain_seq" | "prev_hash" | "row_hash" | "created_at" | "bodies_pruned_at" | "erased_at"
>;

/** What is given in the place of a row that the reader may not see: what its content hashes to, and nothing else of it. */
export function linkOf(row: SealedRow, possible: readonly string[]): RowLink {
  const { chain_seq, prev_hash, row_hash, created_at } = row;
  return {
    chain_seq: chain_seq as number,
    prev_hash: prev_hash ?? "",
    row_hash: row_hash ?? "",
    ...(created_at == null ? {} : { created_at }),
    ...(possible.includes(row_hash ?? "") ? {} : { hashes_to: possible }),
  };
}

export interface VerifierOptions {
  readonly chain: ChainFacts;
  readonly keys: readonly TrustedKey[];
  /** ISO 8601 UTC with six decimals: the moment the rows were read. */
  readonly now: string;
  /** Part of the chain. Rows before are not given; rows after only to reach the next checkpoint. */
  readonly fromSeq?: number;
  readonly toSeq?: number;
  /** Heads the caller knows from elsewhere than the place the rows come from: the chain must reach them. */
  readonly knownHeads?: readonly Anchor[];
  readonly maxFindings?: number;
}

/**
 * Takes rows in the order of chain_seq, each checkpoint after the row it was signed for, and holds only the last of
 * them. A range takes the newest checkpoint before its start first.
 */
export interface Verifier {
  /** Of a withheld one everything is judged, and no finding names it. */
  row(row: AuditRow, withheld?: boolean): void;
  /** A row that was found already to have the `row_hash` it names. */
  proven(row: SealedRow, withheld?: boolean): void;
  /** An entry of the admin log, in the place of a row. */
  entry(entry: AdminEntry, withheld?: boolean): void;
  link(link: RowLink): void;
  checkpoint(line: CheckpointLine): void;
  pruned(prefix: PrunedPrefix): void;
  end(): Verification;
}

interface Place {
  readonly chainSeq: number;
  readonly rowId: string | null;
  /** Hashes the next row may name as its predecessor's: more than one after an altered row or a fork. */
  readonly hashes: string[];
  /** A finding already says that this row is not what was sealed. */
  flagged: boolean;
}

export function possibleEntryHashes(entry: AdminEntry): string[] {
  try {
    return [adminEntryHash(entry)];
  } catch (error) {
    if (error instanceof NotCanonical) return [];
    throw error;
  }
}

/** An entry of the admin log as a verification takes a row. */
export function sealedEntry({ id, chain_seq, prev_hash, entry_hash, at }: AdminEntry): SealedRow {
  const created_at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(at) ? at.replace("Z", "000Z") : null;
  return { id, chain_id: ADMIN_CHAIN, chain_seq, prev_hash, row_hash: entry_hash, created_at };
}

const MAX_FINDINGS = 1_000;
// A fork is one finding each; its branches need not all be followed.
const MAX_BRANCHES = 16;

export function createVerifier(options: VerifierOptions): Verifier {
  const { chain, toSeq = Number.POSITIVE_INFINITY } = options;
  const ranged = options.fromSeq !== undefined && options.fromSeq > chain.first_seq;
  const findings = collectFindings(options.maxFindings ?? MAX_FINDINGS);
  const trail = checkpointTrail(chain.chain_id, options.keys);
  const coverage = trackCoverage();
  const heads = new Map<number, string[]>();
  for (const { chainSeq, rowHash } of [
    ...(chain.head_seq !== null && chain.head_hash !== null ? [{ chainSeq: chain.head_seq, rowHash: chain.head_hash }] : []),
    ...(options.knownHeads ?? []),
  ]) {
    heads.set(chainSeq, [...(heads.get(chainSeq) ?? []), rowHash]);
  }

  let started = false;
  let expected = ranged ? (options.fromSeq as number) : chain.first_seq;
  // Null: nothing is known of the row before.
  let links: readonly string[] | null = expected === 1 ? [GENESIS_HASH] : null;
  let last: Place | null = null;
  // A signed checkpoint whose row has not come (yet).
  let ahead: { readonly chainSeq: number; readonly rowHash: string } | null = null;
  let beyond: { readonly chainSeq: number; readonly rowId: string | null; rows: number } | null = null;
  // Past the end of a range only the way to the next checkpoint counts; null once it is lost or found.
  let wayToAnchor: { chainSeq: number; links: readonly string[] } | null = null;
  let newestCheckpointLine = 0;
  let rowsChecked = 0;
  let rowsWithheld = 0;
  let checkpointsChecked = 0;
  let bodiesExpired = 0;
  let bodiesErased = 0;
  let prunedThrough: number | null = null;

  const add = (verdict: Parameters<typeof findings.add>[0]["verdict"], chain_seq: number, row_id: string | null, detail: string) =>
    findings.add({ verdict, chain_seq, row_id, detail });

  function missing(from: number, to: number): void {
    add("missing", from, null, from === to ? `row ${from} is missing` : `rows ${from} to ${to} are missing (${to - from + 1})`);
  }

  function start(): void {
    if (started) return;
    started = true;
    if (links !== null || expected <= 1) return;
    if (ranged) add("unanchored", expected, null, `no checkpoint covers row ${expected - 1}, so nothing proves what this range stands on`);
    else {
      missing(1, expected - 1);
      trail.forget();
    }
  }

  function leave(): void {
    if (last === null) return;
    for (const head of heads.get(last.chainSeq) ?? []) {
      if (last.flagged || last.hashes.includes(head)) continue;
      last.flagged = true;
      add("altered", last.chainSeq, last.rowId, `row ${last.chainSeq} is not the row the writer recorded as the head of the chain`);
    }
    links = last.hashes;
  }

  function contradicts(rowHash: string): boolean {
    if (last === null || last.hashes.includes(rowHash)) return false;
    last.flagged = true;
    // The next row may rightly name the row that was signed and stands here no more.
    last.hashes.push(rowHash);
    add("checkpoint_invalid", last.chainSeq, last.rowId, `row ${last.chainSeq} is not the row that was signed`);
    return true;
  }

  function place(chainSeq: number, prevHash: unknown, next: Place, createdAt: string | null | undefined): void {
    if (!Number.isSafeInteger(chainSeq) || chainSeq < expected) {
      if (last !== null && chainSeq === last.chainSeq) {
        add("broken_link", chainSeq, next.rowId, `more than one row stands at position ${chainSeq}`);
        if (last.hashes.length < MAX_BRANCHES) last.hashes.push(...next.hashes);
      } else {
        add("broken_link", Number.isSafeInteger(chainSeq) ? chainSeq : expected, next.rowId, "a row stands outside the order of the chain");
      }
      return;
    }
    leave();
    if (chainSeq > expected) {
      missing(expected, chainSeq - 1);
      links = ahead?.chainSeq === chainSeq - 1 ? [ahead.rowHash] : null;
    }
    if (links !== null && !links.includes(prevHash as string)) {
      if (chainSeq === 1) add("missing", 1, next.rowId, "row 1 names a row before it: it was not the first of this chain");
      else
        add(
          "broken_link",
          chainSeq,
          next.rowId,
          `row ${chainSeq} was sealed upon another row ${chainSeq - 1} than the one that stands there`,
        );
    }
    last = next;
    expected = chainSeq + 1;
    if (chain.head_seq !== null && chainSeq > chain.head_seq) {
      beyond ??= { chainSeq, rowId: next.rowId, rows: 0 };
      beyond.rows += 1;
      return;
    }
    coverage.add({ chainSeq, rowId: next.rowId }, createdAt);
    if (ahead?.chainSeq === chainSeq && !contradicts(ahead.rowHash)) coverage.cover();
  }

  /** True when the row lies past the range; it then only carries the links on to the next checkpoint. */
  function past(chainSeq: number, prevHash: unknown, hashes: readonly string[]): boolean {
    if (!(chainSeq > toSeq)) return false;
    const way =
      wayToAnchor ?? (last !== null && chainSeq === toSeq + 1 && last.chainSeq === toSeq ? { chainSeq: toSeq, links: last.hashes } : null);
    const held = way !== null && chainSeq === way.chainSeq + 1 && way.links.includes(prevHash as string) && hashes.length === 1;
    wayToAnchor = held ? { chainSeq, links: hashes } : null;
    return true;
  }

  function sealed(row: SealedRow, possible: readonly string[], withheld: boolean): void {
    start();
    const chainSeq = row.chain_seq as number;
    const stored = row.row_hash ?? "";
    const altered = !possible.includes(stored);
    if (past(chainSeq, row.prev_hash, altered ? [] : [stored])) return;
    rowsChecked += 1;
    if (withheld) rowsWithheld += 1;
    else if (row.bodies_pruned_at != null) bodiesExpired += 1;
    if (!withheld && row.erased_at != null) bodiesErased += 1;
    // What was edited may be of any type.
    const rowId = !withheld && typeof row.id === "string" ? row.id : null;
    const where = Number.isSafeInteger(chainSeq) ? chainSeq : expected;
    if (row.chain_id !== chain.chain_id) add("broken_link", where, rowId, `the row names another chain than ${chain.chain_id}`);
    if (altered) add("altered", where, rowId, `row ${chainSeq} does not have the hash it was sealed with`);
    // Of an altered row either the content or the stored hash is false: its successor may name the one that is not.
    place(
      chainSeq,
      row.prev_hash,
      { chainSeq, rowId, hashes: altered ? [stored, ...possible] : [stored], flagged: altered },
      typeof row.created_at === "string" ? row.created_at : null,
    );
  }

  return {
    row: (row, withheld = false) => sealed(row, possibleHashes(row), withheld),
    proven: (row, withheld = false) => sealed(row, [row.row_hash as string], withheld),

    entry: (entry, withheld = false) => sealed(sealedEntry(entry), possibleEntryHashes(entry), withheld),

    link(link) {
      start();
      const altered = link.hashes_to !== undefined;
      if (past(link.chain_seq, link.prev_hash, altered ? [] : [link.row_hash])) return;
      rowsWithheld += 1;
      const where = Number.isSafeInteger(link.chain_seq) ? link.chain_seq : expected;
      if (altered) add("altered", where, null, `row ${link.chain_seq} did not have the hash it was sealed with when it was exported`);
      const hashes = [link.row_hash, ...(link.hashes_to ?? [])];
      place(
        link.chain_seq,
        link.prev_hash,
        { chainSeq: link.chain_seq, rowId: null, hashes, flagged: altered },
        link.created_at ?? undefined,
      );
    },

    checkpoint(line) {
      if (line.chain_seq > toSeq) {
        const { checkpoint, signed } = trail.next(line);
        if (
          signed &&
          checkpoint !== null &&
          wayToAnchor?.chainSeq === checkpoint.chainSeq &&
          wayToAnchor.links.includes(checkpoint.rowHash)
        )
          coverage.cover();
        return;
      }
      checkpointsChecked += 1;
      newestCheckpointLine = Math.max(newestCheckpointLine, line.chain_seq);
      const isContext = !started && ranged && line.chain_seq < expected;
      const { checkpoint, signed, problem } = isContext ? trail.resume(line) : trail.next(line);
      const rowId = last?.chainSeq === line.chain_seq ? last.rowId : null;
      if (problem !== null)
        add("checkpoint_invalid", line.chain_seq, rowId, `the checkpoint at row ${line.chain_seq} does not hold: ${problem}`);
      if (checkpoint === null || !signed || checkpoint.chainSeq !== line.chain_seq) return;
      const { chainSeq, rowHash } = checkpoint;
      if (isContext) {
        if (chainSeq === expected - 1) links = [rowHash];
      } else if (last?.chainSeq === chainSeq) {
        if (!contradicts(rowHash)) coverage.cover();
      } else if (chainSeq >= expected) {
        ahead = { chainSeq, rowHash };
      } else if (last !== null) {
        add("checkpoint_invalid", chainSeq, null, `the checkpoint at row ${chainSeq} stands outside the order of the chain`);
      }
    },

    pruned(prefix) {
      // Anywhere but before the rows, or up to another row than the chain says, it would cover up for rows that are gone.
      if (started || ranged || prefix.through_seq + 1 !== chain.first_seq) return;
      const { checkpoint, signed, problem } = trail.resume({ chain_seq: prefix.through_seq, note: prefix.checkpoint });
      checkpointsChecked += 1;
      newestCheckpointLine = prefix.through_seq;
      prunedThrough = prefix.through_seq;
      const wrong = problem ?? (checkpoint?.rowHash === prefix.row_hash ? null : "it was signed for another row");
      if (wrong !== null)
        add("checkpoint_invalid", prefix.through_seq, null, `the checkpoint over the rows retention dropped does not hold: ${wrong}`);
      expected = prefix.through_seq + 1;
      links = signed && checkpoint !== null ? [checkpoint.rowHash] : [prefix.row_hash];
    },

    end() {
      start();
      leave();
      let recorded = trail.newestSeq;
      for (const seq of heads.keys()) recorded = Math.max(recorded, seq);
      const target = Math.min(toSeq, recorded);
      if (expected <= target) missing(expected, target);
      const announced = chain.last_checkpoint_seq ?? 0;
      if (toSeq === Number.POSITIVE_INFINITY && announced > newestCheckpointLine) {
        add("missing", announced, null, `the checkpoint over row ${announced} is missing`);
      }
      if (beyond !== null)
        add(
          "unanchored",
          beyond.chainSeq,
          beyond.rowId,
          `the writer's record of the chain ends before row ${beyond.chainSeq}: ${beyond.rows} row(s) were added behind its back`,
        );
      const { pending, overdue } = coverage.result({ newestCheckpoint: trail.newestTime, shippedAt: chain.updated_at, now: options.now });
      if (overdue !== null)
        add(
          "unanchored",
          overdue.chainSeq,
          overdue.rowId,
          `${pending} row(s) from ${overdue.chainSeq} on are under no checkpoint although their time has passed`,
        );
      return {
        chain_id: chain.chain_id,
        verdict: findings.verdict,
        findings: findings.list,
        findings_total: findings.total,
        rows_checked: rowsChecked,
        rows_withheld: rowsWithheld,
        checkpoints_checked: checkpointsChecked,
        head: last === null ? null : { chain_seq: last.chainSeq, row_hash: last.hashes[0] ?? "" },
        pending_anchor: pending,
        bodies_expired: bodiesExpired,
        bodies_erased: bodiesErased,
        pruned_through: prunedThrough,
      };
    },
  };
}

import { GENESIS_HASH } from "./canonical.ts";
import type { Anchor, ChainFacts } from "./chain-facts.ts";
import { trackCoverage } from "./coverage.ts";
import { knownHeads } from "./known-heads.ts";
import type { FindingCollector } from "./verdict.ts";

export interface WalkPosition {
  readonly chainSeq: number;
  readonly rowId: string | null;
  /** Hashes the next row may have as `prev_hash`; several after an altered row or a fork. */
  readonly hashes: string[];
  /** Whether a finding already reports that this row is not the one that was sealed. */
  flagged: boolean;
}

export interface ChainWalkOptions {
  readonly chain: ChainFacts;
  readonly fromSeq?: number;
  readonly knownHeads?: readonly Anchor[];
  readonly findings: Pick<FindingCollector, "add" | "addAt">;
  /** The first rows are missing, so the next checkpoint may follow any other. */
  readonly startMissing: () => void;
  readonly rowsMissing: (from: number, to: number) => void;
}

// Each fork is one finding; no need to follow every branch.
const MAX_BRANCHES = 16;

/** Walks the chain row by row: each must name its predecessor and match what was signed or recorded for its position. */
export class ChainWalk {
  /** Position of the next row. */
  expected: number;
  /** Null if nothing is known about the previous row. */
  links: readonly string[] | null;
  last: WalkPosition | null = null;
  started = false;
  private preceding: readonly string[] | null = null;
  readonly ranged: boolean;
  readonly heads: ReadonlyMap<number, readonly string[]>;
  readonly coverage = trackCoverage();
  /** Rows after the end that the writer recorded. */
  beyond: { readonly chainSeq: number; readonly rowId: string | null; rows: number } | null = null;
  /** A signed checkpoint whose row was not seen (yet). */
  ahead: Anchor | null = null;
  private readonly options: ChainWalkOptions;

  constructor(options: ChainWalkOptions) {
    const { chain, fromSeq } = options;
    this.options = options;
    this.ranged = fromSeq !== undefined && fromSeq > chain.first_seq;
    this.expected = this.ranged ? (fromSeq as number) : chain.first_seq;
    this.links = this.expected === 1 ? [GENESIS_HASH] : null;
    this.heads = knownHeads(chain, options.knownHeads ?? []);
  }

  missing(from: number, to: number): void {
    const detail = from === to ? `row ${from} is missing` : `rows ${from} to ${to} are missing (${to - from + 1})`;
    this.options.findings.add({ verdict: "missing", chain_seq: from, through_seq: to, row_id: null, detail, seen: [] });
  }

  start(): void {
    if (this.started) return;
    this.started = true;
    const { expected } = this;
    if (this.links !== null || expected <= 1) return;
    if (this.ranged) {
      this.links = this.preceding;
      this.options.findings.addAt(
        "unanchored",
        expected,
        null,
        `no checkpoint covers row ${expected - 1}, so nothing proves what this range stands on`,
        ["range"],
      );
    } else {
      this.missing(1, expected - 1);
      this.options.startMissing();
    }
  }

  leave(): void {
    const { last } = this;
    if (last === null) return;
    for (const head of this.heads.get(last.chainSeq) ?? []) {
      if (last.flagged || last.hashes.includes(head)) continue;
      last.flagged = true;
      const detail = `row ${last.chainSeq} is not the row that the writer recorded, or that a checkpoint kept elsewhere stands over`;
      this.options.findings.addAt("altered", last.chainSeq, last.rowId, detail, ["head", head, ...last.hashes]);
    }
    this.links = last.hashes;
  }

  /** Marks every row up to the last as covered by a checkpoint, unless a different row was signed. */
  signed(rowHash: string): void {
    const { last } = this;
    if (last !== null && !last.hashes.includes(rowHash)) {
      last.flagged = true;
      this.notSigned(last, rowHash);
      // The next row may legitimately name the row that was signed and has been replaced.
      last.hashes.push(rowHash);
    } else this.coverage.cover();
  }

  notSigned({ chainSeq, rowId, hashes }: Pick<WalkPosition, "chainSeq" | "rowId" | "hashes">, signedHash: string): void {
    const detail = `row ${chainSeq} is not the row that was signed`;
    this.options.findings.addAt("checkpoint_invalid", chainSeq, rowId, detail, [...hashes, signedHash]);
  }

  /** Whether a row precedes the range. */
  isBefore(chainSeq: number): boolean {
    return this.ranged && !this.started && chainSeq < this.expected;
  }

  /** Sets what the first row of the range must name if no checkpoint says so. */
  precede(chainSeq: number, hashes: readonly string[]): void {
    if (chainSeq === this.expected - 1) this.preceding = [...(this.preceding ?? []), ...hashes];
  }

  place(prevHash: unknown, next: WalkPosition, createdAt: string | null | undefined): void {
    const { chainSeq } = next;
    if (!Number.isSafeInteger(chainSeq) || chainSeq < this.expected) {
      this.outOfOrder(next);
      return;
    }
    this.leave();
    if (chainSeq > this.expected) {
      this.missing(this.expected, chainSeq - 1);
      this.options.rowsMissing(this.expected, chainSeq - 1);
      this.links = this.ahead?.chainSeq === chainSeq - 1 ? [this.ahead.rowHash] : null;
    }
    if (this.links !== null && !this.links.includes(prevHash as string)) this.unlinked(next, prevHash ?? "", this.links);
    this.last = next;
    this.expected = chainSeq + 1;
    const { head_seq } = this.options.chain;
    if (head_seq !== null && chainSeq > head_seq) {
      this.beyond ??= { chainSeq, rowId: next.rowId, rows: 0 };
      this.beyond.rows += 1;
      return;
    }
    this.coverage.add({ chainSeq, rowId: next.rowId }, createdAt);
    if (this.ahead?.chainSeq === chainSeq) this.signed(this.ahead.rowHash);
  }

  private outOfOrder({ chainSeq, rowId, hashes }: WalkPosition): void {
    const { last, expected } = this;
    if (last !== null && chainSeq === last.chainSeq) {
      this.options.findings.addAt("broken_link", chainSeq, rowId, `more than one row stands at position ${chainSeq}`, ["twice", ...hashes]);
      if (last.hashes.length < MAX_BRANCHES) last.hashes.push(...hashes);
    } else {
      const where = Number.isSafeInteger(chainSeq) ? chainSeq : expected;
      this.options.findings.addAt("broken_link", where, rowId, "a row stands outside the order of the chain", ["order", ...hashes]);
    }
  }

  /** `before`: the hashes of the preceding row. */
  unlinked(
    { chainSeq, rowId, hashes }: { readonly chainSeq: number; readonly rowId: string | null; readonly hashes: readonly string[] },
    prevHash: unknown,
    before: readonly string[],
  ): void {
    if (chainSeq === 1)
      this.options.findings.addAt("missing", 1, rowId, "row 1 names a row before it: it was not the first of this chain", [prevHash]);
    else {
      const detail = `row ${chainSeq} was sealed upon another row ${chainSeq - 1} than the one that stands there`;
      this.options.findings.addAt("broken_link", chainSeq, rowId, detail, [prevHash, ...before, ...hashes]);
    }
  }
}

import type { Checkpoint } from "./checkpoint.ts";
import type { WalkPosition } from "./chain-walk.ts";

/** A row after the end of the verified range. */
interface RowBeyond {
  readonly chainSeq: number;
  readonly rowId: string | null;
  readonly prevHash: unknown;
  /** Hashes the row's content can give; empty if it gives none. */
  readonly hashes: readonly string[];
}

/** Follows the links from the end of a range to the next checkpoint. Rows after the range are checked for nothing else. */
export class BeyondRange {
  private readonly toSeq: number;
  private way: Pick<WalkPosition, "chainSeq" | "rowId" | "hashes"> | null = null;
  private begun = false;
  private signed = false;

  constructor(toSeq: number) {
    this.toSeq = toSeq;
  }

  has(chainSeq: number): boolean {
    return chainSeq > this.toSeq;
  }

  /** `last` is the last row of the range. Returns false if the row names another predecessor than it. */
  follow({ chainSeq, rowId, prevHash, hashes }: RowBeyond, last: WalkPosition | null): boolean {
    const { toSeq } = this;
    if (!this.begun) this.way = last?.chainSeq === toSeq ? last : null;
    this.begun = true;
    const before = this.way;
    const isNext = before !== null && chainSeq === before.chainSeq + 1 && hashes.length === 1;
    const follows = isNext && before.hashes.includes(prevHash as string);
    this.way = follows ? { chainSeq, rowId, hashes: [...hashes] } : null;
    return follows || !isNext || before.chainSeq !== toSeq;
  }

  /** The row reached, if the checkpoint at its position was signed for a different row; else null. */
  contradicted({ chainSeq, rowHash }: Checkpoint): Pick<WalkPosition, "chainSeq" | "rowId" | "hashes"> | null {
    this.signed = true;
    return this.way?.chainSeq === chainSeq && !this.way.hashes.includes(rowHash) ? this.way : null;
  }

  leadsTo({ chainSeq, rowHash }: Checkpoint): boolean {
    return this.way?.chainSeq === chainSeq && this.way.hashes.includes(rowHash);
  }

  /** Whether a checkpoint after the range was seen: rows of the range that none covers by then will never be covered. */
  get isOver(): boolean {
    return this.signed;
  }
}

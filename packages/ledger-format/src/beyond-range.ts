import type { Checkpoint } from "./checkpoint.ts";
import type { WalkPosition } from "./chain-walk.ts";

/** A row past the end of a range. */
interface RowBeyond {
  readonly chainSeq: number;
  readonly rowId: string | null;
  readonly prevHash: unknown;
  /** Its own hash, none where its content does not give it. */
  readonly hashes: readonly string[];
}

/** Past the end of a range only the way to the next checkpoint counts: whether the rows between lead on to it. */
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

  /** `last` is the last row of the range. False when the row says itself that another one than the last stood before it. */
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

  /** The row at the end of the way, where a checkpoint was signed for another one at its place. */
  contradicted({ chainSeq, rowHash }: Checkpoint): Pick<WalkPosition, "chainSeq" | "rowId" | "hashes"> | null {
    this.signed = true;
    return this.way?.chainSeq === chainSeq && !this.way.hashes.includes(rowHash) ? this.way : null;
  }

  leadsTo({ chainSeq, rowHash }: Checkpoint): boolean {
    return this.way?.chainSeq === chainSeq && this.way.hashes.includes(rowHash);
  }

  /** A checkpoint was signed behind the range: rows of it that are under none by now will never be. */
  get isOver(): boolean {
    return this.signed;
  }
}

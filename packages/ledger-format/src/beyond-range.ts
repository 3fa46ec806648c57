import type { Checkpoint } from "./checkpoint.ts";

interface Way {
  readonly chainSeq: number;
  readonly links: readonly string[];
}

/** Past the end of a range only the way to the next checkpoint counts: whether the rows between lead on to it. */
export class BeyondRange {
  private readonly toSeq: number;
  /** Null once it is lost or found. */
  private way: Way | null = null;

  constructor(toSeq: number) {
    this.toSeq = toSeq;
  }

  has(chainSeq: number): boolean {
    return chainSeq > this.toSeq;
  }

  /** `last` is the last row of the range. */
  follow(
    chainSeq: number,
    prevHash: unknown,
    hashes: readonly string[],
    last: { chainSeq: number; hashes: readonly string[] } | null,
  ): void {
    const { toSeq } = this;
    const way =
      this.way ?? (last !== null && chainSeq === toSeq + 1 && last.chainSeq === toSeq ? { chainSeq: toSeq, links: last.hashes } : null);
    const held = way !== null && chainSeq === way.chainSeq + 1 && way.links.includes(prevHash as string) && hashes.length === 1;
    this.way = held ? { chainSeq, links: hashes } : null;
  }

  leadsTo({ chainSeq, rowHash }: Checkpoint): boolean {
    return this.way?.chainSeq === chainSeq && this.way.links.includes(rowHash);
  }
}

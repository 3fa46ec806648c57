import { hash } from "node:crypto";

/** Possible verdicts on a chain, worst first; a verification reports its worst. */
export const VERDICTS = ["checkpoint_invalid", "altered", "broken_link", "missing", "unanchored", "intact"] as const;

export type Verdict = (typeof VERDICTS)[number];

export interface VerificationFinding {
  /** Stable as long as exactly the same is found at the same position, also when only part of the chain is verified. */
  readonly id: string;
  readonly verdict: Exclude<Verdict, "intact">;
  /** First position affected. */
  readonly chain_seq: number;
  /** Last position affected. */
  readonly through_seq: number;
  /** Null if there is no such row or the reader may not see it. */
  readonly row_id: string | null;
  readonly detail: string;
}

export interface Verification {
  readonly chain_id: string;
  readonly verdict: Verdict;
  /** In chain order, at most as many as requested. */
  readonly findings: VerificationFinding[];
  /** Number of all findings, listed or not. */
  readonly findings_total: number;
  /** Rows whose content was checked against their hash. */
  readonly rows_checked: number;
  /** Rows whose content the reader may not see. They were checked where they were read; for an export, by its creator. */
  readonly rows_withheld: number;
  readonly checkpoints_checked: number;
  /** Last position checked; null if there were no rows. */
  readonly head: { readonly chain_seq: number; readonly row_hash: string } | null;
  /** Rows at the end that no checkpoint covers yet. */
  readonly pending_anchor: number;
  readonly bodies_expired: number;
  readonly bodies_erased: number;
  /** Rows up to here were deleted by retention, under a checkpoint that still covers them; null if none were. */
  readonly pruned_through: number | null;
}

/** A finding before its ID is computed. */
export interface UnnamedFinding extends Omit<VerificationFinding, "id" | "through_seq"> {
  /** Omitted if the finding is about a single position. */
  readonly through_seq?: number;
  /** What was found there, such as hashes. It is part of the ID: a different content is a different finding. */
  readonly seen: readonly unknown[];
}

/** Collects the first findings, the total number, and the worst verdict. */
export interface FindingCollector {
  add(found: UnnamedFinding): void;
  /** Adds a finding about a single position. */
  addAt(verdict: UnnamedFinding["verdict"], chain_seq: number, row_id: string | null, detail: string, seen: UnnamedFinding["seen"]): void;
  readonly list: VerificationFinding[];
  readonly total: number;
  readonly verdict: Verdict;
}

/** Copies the text, because a substring keeps the whole string it was cut from in memory. */
function copied(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

function named(chainId: string, { seen, through_seq: through, ...found }: UnnamedFinding): VerificationFinding {
  const { verdict, chain_seq: from, row_id: rowId, detail } = found;
  const throughSeq = through ?? from;
  const id = hash("sha256", JSON.stringify([chainId, verdict, from, throughSeq, ...seen]));
  return { id, verdict, chain_seq: from, through_seq: throughSeq, row_id: rowId === null ? null : copied(rowId), detail };
}

export function collectFindings(chainId: string, limit: number): FindingCollector {
  const list: VerificationFinding[] = [];
  let total = 0;
  let worst: number = VERDICTS.indexOf("intact");
  const add = (found: UnnamedFinding) => {
    total += 1;
    worst = Math.min(worst, VERDICTS.indexOf(found.verdict));
    if (list.length < limit) list.push(named(chainId, found));
  };
  return {
    add,
    addAt: (verdict, chain_seq, row_id, detail, seen) => add({ verdict, chain_seq, row_id, detail, seen }),
    list,
    get total() {
      return total;
    },
    get verdict() {
      return VERDICTS[worst] as Verdict;
    },
  };
}

/** What a verification can say of a chain, worst first: the worst finding is the headline. */
export const VERDICTS = ["checkpoint_invalid", "altered", "broken_link", "missing", "unanchored", "intact"] as const;

export type Verdict = (typeof VERDICTS)[number];

export interface VerificationFinding {
  readonly verdict: Exclude<Verdict, "intact">;
  /** The first position the finding is about. */
  readonly chain_seq: number;
  /** Null when there is no such row, or when the reader may not see it. */
  readonly row_id: string | null;
  readonly detail: string;
}

export interface Verification {
  readonly chain_id: string;
  readonly verdict: Verdict;
  /** In the order of the chain, at most as many as were asked for. */
  readonly findings: VerificationFinding[];
  /** How many there are, listed or not. */
  readonly findings_total: number;
  /** Rows whose content was checked against their hash. */
  readonly rows_checked: number;
  /** Rows whose content the reader may not see: checked like the others where they were read, in an export by whoever made it. */
  readonly rows_withheld: number;
  readonly checkpoints_checked: number;
  /** Last position checked, null when there was no row. */
  readonly head: { readonly chain_seq: number; readonly row_hash: string } | null;
  /** Rows at the end that no checkpoint covers yet. */
  readonly pending_anchor: number;
  readonly bodies_expired: number;
  readonly bodies_erased: number;
  /** Rows up to it were dropped by retention, under a checkpoint that still holds them; null when none were. */
  readonly pruned_through: number | null;
}

/** Keeps the first findings, the number of all, and the worst of all. */
export interface FindingCollector {
  add(finding: VerificationFinding): void;
  readonly list: VerificationFinding[];
  readonly total: number;
  readonly verdict: Verdict;
}

/** A text that was cut out of a longer one keeps all of that in memory: findings stay. */
function copied(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

export function collectFindings(limit: number): FindingCollector {
  const list: VerificationFinding[] = [];
  let total = 0;
  let worst: number = VERDICTS.indexOf("intact");
  return {
    add(finding) {
      total += 1;
      worst = Math.min(worst, VERDICTS.indexOf(finding.verdict));
      if (list.length < limit) list.push({ ...finding, row_id: finding.row_id === null ? null : copied(finding.row_id) });
    },
    list,
    get total() {
      return total;
    },
    get verdict() {
      return VERDICTS[worst] as Verdict;
    },
  };
}

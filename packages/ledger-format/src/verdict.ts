import { hash } from "node:crypto";

/** What a verification can say of a chain, worst first: the worst finding is the headline. */
export const VERDICTS = ["checkpoint_invalid", "altered", "broken_link", "missing", "unanchored", "intact"] as const;

export type Verdict = (typeof VERDICTS)[number];

export interface VerificationFinding {
  /** Names it: the same as long as exactly the same is found at the same place, also in a verification of a part of the chain. */
  readonly id: string;
  readonly verdict: Exclude<Verdict, "intact">;
  /** The first position the finding is about. */
  readonly chain_seq: number;
  /** The last one. */
  readonly through_seq: number;
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

/** A finding before it has its name. */
export interface UnnamedFinding extends Omit<VerificationFinding, "id" | "through_seq"> {
  /** Left out where it is about one position. */
  readonly through_seq?: number;
  /** What stands there instead, such as hashes: with anything else there it is another finding. */
  readonly seen: readonly unknown[];
}

/** Keeps the first findings, the number of all, and the worst of all. */
export interface FindingCollector {
  add(found: UnnamedFinding): void;
  /** One about a single position. */
  addAt(verdict: UnnamedFinding["verdict"], chain_seq: number, row_id: string | null, detail: string, seen: UnnamedFinding["seen"]): void;
  readonly list: VerificationFinding[];
  readonly total: number;
  readonly verdict: Verdict;
}

/** A text that was cut out of a longer one keeps all of that in memory: findings stay. */
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

import { openCheckpoint, type Checkpoint, type TrustedKey } from "./checkpoint.ts";

/** A checkpoint as stored or exported. */
export interface CheckpointLine {
  readonly chain_seq: number;
  readonly note: string;
}

export interface JudgedCheckpoint {
  readonly checkpoint: Checkpoint | null;
  /** Whether a trusted key signed it for this chain; only then does it prove anything about rows. */
  readonly signed: boolean;
  readonly problem: string | null;
  /** Digest of the checkpoint it had to follow; null if it may follow any. */
  readonly before: string | null;
}

/** Checks the checkpoints of one chain in order: each one's signature, and that it follows the previous one. */
export interface CheckpointTrail {
  next(line: CheckpointLine): JudgedCheckpoint;
  /** Starts after this checkpoint without checking what preceded it. */
  resume(line: CheckpointLine): JudgedCheckpoint;
  /** Lets the next checkpoint follow any other. */
  forget(): void;
  /** Rows at these positions are missing, possibly including the checkpoint that the next one names as its predecessor. */
  missing(from: number, to: number): void;
  /** Position of the newest signed checkpoint; 0 if there is none. */
  readonly newestSeq: number;
  readonly newestTime: string | null;
}

export function checkpointTrail(chainId: string, keys: readonly TrustedKey[]): CheckpointTrail {
  // What the next checkpoint must say. Null after an untrusted one, so that one bad note yields one finding.
  let expected: { previous: string | null; first: number } | null = { previous: null, first: 1 };
  let gap: { readonly from: number; readonly to: number } | null = null;
  let newestSeq = 0;
  let newestTime: string | null = null;

  function judge(line: CheckpointLine, follows: boolean): JudgedCheckpoint {
    const { checkpoint, digest, invalid } = openCheckpoint(line.note, keys);
    let before = follows ? expected : null;
    const lost = gap;
    expected = gap = null;
    const unsigned = (problem: string | null) => ({ checkpoint, signed: false, problem, before: null });
    if (checkpoint === null || invalid !== null) return unsigned(invalid);
    if (checkpoint.chainId !== chainId) return unsigned(`it was signed for chain ${checkpoint.chainId}`);
    // If the previous checkpoint covered a missing row or the one just before, only the missing rows are reported.
    if (lost !== null && checkpoint.firstSeq >= lost.from && checkpoint.firstSeq <= lost.to + 1) before = null;
    expected = { previous: digest, first: checkpoint.chainSeq + 1 };
    newestSeq = Math.max(newestSeq, checkpoint.chainSeq);
    newestTime = checkpoint.time;
    let problem: string | null = null;
    if (checkpoint.chainSeq !== line.chain_seq) problem = `it was signed for row ${checkpoint.chainSeq}`;
    else if (before !== null && checkpoint.previous !== before.previous) problem = "the checkpoint it names as the one before is not there";
    else if (before !== null && checkpoint.firstSeq !== before.first)
      problem = `it covers rows from ${checkpoint.firstSeq}, not from ${before.first}`;
    return { checkpoint, signed: true, problem, before: before?.previous ?? null };
  }

  return {
    next: (line) => judge(line, true),
    resume: (line) => judge(line, false),
    forget() {
      expected = null;
    },
    missing(from, to) {
      gap = { from: gap?.from ?? from, to };
    },
    get newestSeq() {
      return newestSeq;
    },
    get newestTime() {
      return newestTime;
    },
  };
}

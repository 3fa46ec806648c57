/** Estimates how long rows have been waiting for the database without remembering each of them. */
export interface Backlog {
  /** Notes a row written at `at` (ISO) while everything up to `shippedSeq` was in the database. */
  add(seq: number, at: string, shippedSeq: number): void;
  /** Approximately when the oldest row after `shippedSeq` was written; null if there is none. */
  oldest(shippedSeq: number): string | null;
}

const EVERY = 1_000;

export function backlog(): Backlog {
  let marks: { readonly seq: number; readonly at: string }[] = [];
  let last = 0;

  function forget(shippedSeq: number): void {
    if (shippedSeq >= last) marks = [];
    while (marks[1] !== undefined && marks[1].seq <= shippedSeq + 1) marks.shift();
  }

  return {
    add(seq, at, shippedSeq) {
      const newest = marks.at(-1);
      if (newest === undefined || shippedSeq >= last || seq - newest.seq >= EVERY) {
        forget(shippedSeq);
        marks.push({ seq, at });
      }
      last = seq;
    },
    oldest(shippedSeq) {
      forget(shippedSeq);
      return marks[0]?.at ?? null;
    },
  };
}

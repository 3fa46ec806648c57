import { CHECKPOINT_MS } from "./checkpoint.ts";

/** Rows still uncovered after twice the checkpoint interval are overdue. */
const GRACE_MS = 2 * CHECKPOINT_MS;

interface UncoveredRow {
  readonly chainSeq: number;
  readonly rowId: string | null;
}

/** Tracks the rows at the end that no checkpoint covers, and whether they are overdue. */
export interface Coverage {
  /** `createdAt`: undefined if it is withheld, null if the row has none. */
  add(row: UncoveredRow, createdAt: string | null | undefined): void;
  /** Marks every row added so far as covered by a checkpoint. */
  cover(): void;
  /**
   * `newestCheckpoint`, `shippedAt`, `now`: ISO 8601 UTC. `isOver`: no further checkpoint will cover the rows, whatever their age.
   * `overdue` is the first row of an uncovered end that should be covered, with the last position of it; else null.
   */
  result(
    times: { newestCheckpoint: string | null; shippedAt: string | null; now: string },
    isOver: boolean,
  ): { pending: number; overdue: (UncoveredRow & { readonly throughSeq: number }) | null };
}

const DATED = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/;

function millis(iso: string): number {
  return Date.parse(`${iso.slice(0, 23)}Z`);
}

export function trackCoverage(): Coverage {
  let first: UncoveredRow | null = null;
  let throughSeq = 0;
  let count = 0;
  let undated = false;
  let oldest: string | null = null;
  let newest: string | null = null;
  return {
    add(row, createdAt) {
      first ??= row;
      throughSeq = row.chainSeq;
      count += 1;
      if (createdAt === undefined) return;
      if (createdAt === null || (!DATED.test(createdAt) && Number.isNaN(millis(createdAt)))) {
        undated = true;
        return;
      }
      if (oldest === null || createdAt < oldest) oldest = createdAt;
      if (newest === null || createdAt > newest) newest = createdAt;
    },
    cover() {
      first = null;
      count = 0;
      undated = false;
      oldest = null;
      newest = null;
    },
    result({ newestCheckpoint, shippedAt, now }, isOver) {
      if (first === null) return { pending: 0, overdue: null };
      const end = { ...first, throughSeq };
      if (isOver) return { pending: count, overdue: end };
      const limit = millis(now);
      // While the writer catches up, its table lags behind the clock: the checkpoint over the newest rows may be written and not yet
      // shipped. A date in the future must be an edit, and would excuse the rows forever.
      const catchingUp = shippedAt !== null && Math.abs(limit - millis(shippedAt)) <= GRACE_MS;
      const reached = Math.max(newest === null ? 0 : millis(newest), newestCheckpoint === null ? 0 : millis(newestCheckpoint));
      const asOf = catchingUp ? Math.min(limit, reached) : limit;
      if (Number.isNaN(reached)) return { pending: count, overdue: end };
      const late = oldest !== null && asOf - millis(oldest) > GRACE_MS;
      // Otherwise a date in the future would keep a row pending forever.
      const future = newest !== null && millis(newest) - limit > GRACE_MS;
      return { pending: count, overdue: undated || late || future ? end : null };
    },
  };
}

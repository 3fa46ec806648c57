import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { isoMicros, type Clock } from "../kernel/clock.ts";
import { backlog } from "./shipping/backlog.ts";
import { chainedLine, type Chain } from "./chains/chain.ts";
import type { Checkpointer } from "./checkpoints/checkpointer.ts";
import { type Journal, JournalFailed } from "./journal/journal.ts";
import { recentIds } from "./recent-ids.ts";
import { storableRow } from "./row.ts";

export interface RowWriterParts {
  readonly chain: Chain;
  readonly journal: Journal;
  readonly checkpoints: Checkpointer;
  readonly clock: Clock;
  /** Chain position of the last row in the database. */
  readonly shippedSeq: () => number;
}

/** Chains each row and writes it to the journal. */
export class RowWriter {
  private readonly parts: RowWriterParts;
  private readonly sealed = recentIds();
  private readonly waiting = backlog();

  constructor(parts: RowWriterParts) {
    this.parts = parts;
  }

  /** Whether a row with this ID was written recently. */
  has(id: string): boolean {
    return this.sealed.has(id);
  }

  /** ISO time of approximately the oldest row that waits for the database; null if none does. */
  oldestWaiting(): string | null {
    return this.waiting.oldest(this.parts.shippedSeq());
  }

  write(row: AuditRow): void {
    const { chain, journal, checkpoints, clock, shippedSeq } = this.parts;
    if (journal.failed !== null) throw new JournalFailed(journal.failed);
    row.created_at = isoMicros(clock.micros());
    row.source ??= "gateway";
    const columns = storableRow(row);
    const link = chain.append(row);
    journal.seal(row.id as string, chainedLine(columns, link));
    this.sealed.add(row.id as string);
    Object.assign(row, link);
    this.waiting.add(link.chain_seq, row.created_at, shippedSeq());
    checkpoints.signWhenDue(journal);
  }
}

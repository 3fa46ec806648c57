import { type AuditShipment, shipAuditRows } from "../../store/ledger/audit-shipping.ts";
import { readAuditChain } from "../../store/ledger/audit-chain-state.ts";
import type { Database } from "../../store/database.ts";
import type { Log } from "../../kernel/log.ts";
import type { Chain, ChainHead } from "../chains/chain.ts";
import type { Journal } from "../journal/journal.ts";
import { isDataRejected, withoutRejectedData } from "./rejected-data.ts";
import { lineId } from "../row-line.ts";
import type { CheckpointRecord } from "../journal/journal-contents.ts";
import { isBefore, listSegments, type Position } from "../journal/segments.ts";
import { headOf, idRangeOf, lineText } from "./shipment-lines.ts";
import { ShipmentMemory } from "./shipment-memory.ts";
import { readShipment, segmentColumns, type Shipment } from "./shipment.ts";

export interface ShippingOptions {
  readonly db: Database;
  readonly log: Log;
  readonly directory: string;
  readonly journal: Journal;
  readonly chain: Chain;
  readonly writer: string;
  readonly from: Position;
  /** Head of the chain in the database. */
  readonly shippedHead: ChainHead;
  /** Replaces the shipping statement, so that tests can cut it off after its commit. */
  readonly ship?: typeof shipAuditRows;
  /** Called with checkpoints only once they are in the database: a database without a copied checkpoint has lost it. */
  readonly checkpointed?: (checkpoints: readonly CheckpointRecord[]) => void;
}

const SHIPMENT = { rows: 1_000, bytes: 4 * 1024 * 1024 };

/** A row that is already in the database, as after a journal is shipped again from its beginning. */
const UNIQUE_VIOLATION = "23505";

/** The position up to which the journal is in the database, advanced one shipment at a time. */
export class Shipping {
  cursor: Position;
  shippedHead: ChainHead;
  /** Another writer owns the chain: nothing can be shipped any more. */
  lost = false;
  /** Whether the journal may hold rows that were erased on their arrival in the database. */
  erasedArrivals = false;
  // The position recorded in the database. Sections without rows or checkpoints advance only the cursor.
  private recorded: Position;
  private header: { segment: number; columns: readonly string[] } = { segment: -1, columns: [] };
  private maxRows = SHIPMENT.rows;
  private readonly memory = new ShipmentMemory(SHIPMENT.bytes);
  private readonly ship: typeof shipAuditRows;
  private readonly options: ShippingOptions;

  constructor(options: ShippingOptions) {
    this.options = options;
    this.cursor = options.from;
    this.recorded = options.from;
    this.shippedHead = options.shippedHead;
    this.ship = options.ship ?? shipAuditRows;
  }

  /** Ships the next section; false if no complete record is available. */
  async next(): Promise<boolean> {
    const { directory, journal } = this.options;
    const { cursor } = this;
    if (this.header.segment !== cursor.segment)
      this.header = { segment: cursor.segment, columns: segmentColumns(directory, cursor.segment) };
    const limits = { rows: this.maxRows, bytes: SHIPMENT.bytes };
    const shipment = readShipment(directory, cursor, journal.stable, this.header.columns, limits, (bytes) => this.memory.give(bytes));
    if (shipment === null) {
      this.memory.takeBack();
      return false;
    }
    const nothingToShip = shipment.rows.length === 0 && shipment.checkpointCount === 0 && shipment.end.segment === this.recorded.segment;
    if (nothingToShip) {
      this.memory.takeBack();
      this.cursor = shipment.end;
    } else await this.send(shipment);
    return true;
  }

  /** Releases the buffer while nothing is being shipped. */
  rest(): void {
    this.memory.free();
  }

  behind(position: Position): boolean {
    return isBefore(this.cursor, position);
  }

  private async send(shipment: Shipment): Promise<void> {
    const { db, log, chain, writer } = this.options;
    const { columns } = shipment;
    const first = shipment.rows[0];
    const last = shipment.rows.at(-1);
    const head = last === undefined ? null : headOf(last, columns);
    const base = {
      chainId: chain.chainId,
      writer,
      from: this.recorded,
      to: shipment.end,
      columns,
      checkpoints: shipment.checkpoints,
      firstSeq: first === undefined ? null : headOf(first, columns).seq,
      idRange: idRangeOf(shipment.rows),
      head,
    };
    let { rows, text }: Pick<AuditShipment, "rows" | "text"> = shipment;
    let known: AuditShipment["ids"] = null;
    for (let attempt = 0; ;) {
      try {
        const shipped = await this.ship(db, { ...base, rows, text, ids: known });
        if (shipped === null) return await this.reposition();
        this.erasedArrivals ||= shipped.erased;
        break;
      } catch (error) {
        const code = isDataRejected(error);
        if (code === null || shipment.rows.length === 0) throw error;
        if (code === UNIQUE_VIOLATION && known === null) {
          known = shipment.rows.map(lineId);
          continue;
        }
        if (shipment.rows.length > 1) {
          this.maxRows = Math.floor(shipment.rows.length / 2);
          return;
        }
        if (attempt > 1) throw error;
        log.error("audit_row_refused_by_database", { chain_seq: head?.seq, code, error: error as Error });
        text = Buffer.from(`${withoutRejectedData(lineText(last as Buffer), columns, code, attempt > 0)}\n`);
        rows = [text];
        attempt++;
      }
    }
    this.arrived(shipment, head);
  }

  private arrived(shipment: Shipment, head: ChainHead | null): void {
    const { journal, checkpointed } = this.options;
    this.memory.takeBack();
    this.maxRows = Math.min(SHIPMENT.rows, this.maxRows * 2);
    this.recorded = shipment.end;
    this.cursor = shipment.end;
    if (head !== null) this.shippedHead = head;
    journal.free(this.recorded);
    if (shipment.checkpointCount > 0) checkpointed?.(JSON.parse(shipment.checkpoints) as CheckpointRecord[]);
  }

  /** The database has the chain at another position: an earlier commit's response was lost, or another writer owns the chain. */
  private async reposition(): Promise<void> {
    const { db, log, directory, journal, chain, writer } = this.options;
    const state = await readAuditChain(db, chain.chainId);
    if (state === null || state.writer !== writer) {
      const isSetBack = state === null || state.headSeq < this.shippedHead.seq;
      const reason = isSetBack
        ? `the database was set back to before this process was started, and knows chain ${chain.chainId} no further: start it again`
        : `another process writes to chain ${chain.chainId}`;
      journal.fail(reason, new Error(reason));
      this.lost = true;
      return;
    }
    this.recorded = state.shipped;
    // The rows whose response was lost may have been erased on arrival.
    this.erasedArrivals = true;
    // A database restored from an older backup may need segments that were deleted long ago.
    const oldest = listSegments(directory)[0]?.number ?? this.recorded.segment;
    this.cursor = this.recorded.segment < oldest ? { segment: oldest, offset: 0 } : this.recorded;
    if (this.cursor !== this.recorded)
      log.error("audit_database_set_back", { chain_id: chain.chainId, database_seq: state.headSeq, shipped_seq: this.shippedHead.seq });
    this.shippedHead = { seq: state.headSeq, hash: state.headHash };
    journal.free(this.cursor);
  }
}

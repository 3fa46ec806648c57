import { type AuditShipment, readAuditChain, shipAuditRows } from "../store/audit-shipping.ts";
import type { Database } from "../store/database.ts";
import { reasonOf } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import type { Chain, ChainHead } from "./chain.ts";
import type { Journal } from "./journal.ts";
import { refusedData, withoutRefusedData } from "./poison.ts";
import type { CheckpointRecord } from "./scan.ts";
import { isBefore, listSegments, type Position } from "./segments.ts";
import { lineId, readRowLine } from "./row-line.ts";
import { readShipment, segmentColumns, type Shipment } from "./shipment.ts";

export interface ShipperOptions {
  readonly db: Database;
  readonly log: Log;
  readonly directory: string;
  readonly journal: Journal;
  readonly chain: Chain;
  readonly writer: string;
  readonly from: Position;
  /** Head of the chain in the database. */
  readonly shippedHead: ChainHead;
  /** How long rows may wait for others to be shipped with. */
  readonly waitMs: number;
  /** Replaces the statement that ships, so that tests can cut it off after its commit. */
  readonly ship?: typeof shipAuditRows;
  /** Told of checkpoints once they are in the database: never of one a restored backup could rightly lack. */
  readonly checkpointed?: (checkpoints: readonly CheckpointRecord[]) => void;
}

/** Copies the journal into the database, in order and exactly once, from its files: a backlog of any size takes no memory. */
export interface Shipper {
  /** Something worth shipping was written. */
  notify(): void;
  /** Resolves when everything written so far is in the database; rejects when that cannot happen any more. */
  shipped(): Promise<void>;
  /** Ends the loop after the statement under way. */
  stop(): Promise<void>;
  readonly shippedHead: ChainHead;
  readonly failing: string | null;
}

const WAKE_ROWS = 1_000;
const SHIPMENT = { rows: 1_000, bytes: 4 * 1024 * 1024 };
const BACKOFF_MS = { first: 100, last: 5_000 };

/** A row that is in the database already, as after a journal was shipped from its beginning again. */
const UNIQUE_VIOLATION = "23505";

const lineText = (line: Buffer): string => line.toString("utf8", 0, line.length - 1);

function headOf(line: Buffer, columns: readonly string[]): ChainHead {
  const { chain_seq: seq, row_hash: hash } = readRowLine(lineText(line), columns);
  return { seq: seq ?? 0, hash: hash ?? "" };
}

function idRangeOf(rows: readonly Buffer[]): AuditShipment["idRange"] {
  const ids = rows.map(lineId);
  let [least] = ids;
  let most = least;
  if (least === undefined || most === undefined) return null;
  for (const id of ids) {
    if (id < least) least = id;
    if (id > most) most = id;
  }
  return { least, most };
}

export function startShipper(options: ShipperOptions): Shipper {
  const { db, log, directory, journal, chain, writer } = options;
  const ship = options.ship ?? shipAuditRows;
  let cursor = options.from;
  // Where the chain stands in the database. Stretches without a row or checkpoint move the cursor only.
  let recorded = options.from;
  let shippedHead = options.shippedHead;
  let header: { segment: number; columns: readonly string[] } = { segment: -1, columns: [] };
  let maxRows = SHIPMENT.rows;
  let backoff = BACKOFF_MS.first;
  let failing: string | null = null;
  let stopped = false;
  let hurried = false;
  let pending = false;
  let wake: (() => void) | null = null;
  let waiters: { until: Position; resolve: () => void; reject: (error: Error) => void }[] = [];

  const wakeUp = () => wake?.();

  /** Waits until `ready`, or `ms`; a stop always wakes. */
  function sleep(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === null ? undefined : setTimeout(wakeUp, ms);
      wake = () => {
        clearTimeout(timer);
        wake = null;
        resolve();
      };
    });
  }

  function settleWaiters(): void {
    const arrived = waiters.filter((waiter) => !isBefore(cursor, waiter.until));
    if (arrived.length === 0) return;
    waiters = waiters.filter((waiter) => isBefore(cursor, waiter.until));
    for (const waiter of arrived) waiter.resolve();
  }

  function rejectWaiters(reason: string): void {
    for (const waiter of waiters) waiter.reject(new Error(reason));
    waiters = [];
  }

  async function send(shipment: Shipment): Promise<void> {
    const { columns } = shipment;
    const first = shipment.rows[0];
    const last = shipment.rows.at(-1);
    const head = last === undefined ? null : headOf(last, columns);
    const base = {
      chainId: chain.chainId,
      writer,
      from: recorded,
      to: shipment.end,
      columns,
      checkpoints: shipment.checkpoints,
      firstSeq: first === undefined ? null : headOf(first, columns).seq,
      idRange: idRangeOf(shipment.rows),
      head,
    };
    let rows: AuditShipment["rows"] = shipment.rows;
    let known: AuditShipment["ids"] = null;
    for (let attempt = 0; ;) {
      try {
        if (!(await ship(db, { ...base, rows, ids: known }))) return await reposition();
        break;
      } catch (error) {
        const code = refusedData(error);
        if (code === null || shipment.rows.length === 0) throw error;
        if (code === UNIQUE_VIOLATION && known === null) {
          known = shipment.rows.map(lineId);
          continue;
        }
        if (shipment.rows.length > 1) {
          maxRows = Math.floor(shipment.rows.length / 2);
          return;
        }
        if (attempt > 1) throw error;
        log.error("audit_row_refused_by_database", { chain_seq: head?.seq, code, error: error as Error });
        rows = [Buffer.from(`${withoutRefusedData(lineText(last as Buffer), columns, code, attempt > 0)}\n`)];
        attempt++;
      }
    }
    maxRows = Math.min(SHIPMENT.rows, maxRows * 2);
    recorded = shipment.end;
    cursor = shipment.end;
    if (head !== null) shippedHead = head;
    journal.free(recorded);
    if (shipment.checkpointCount > 0) options.checkpointed?.(JSON.parse(shipment.checkpoints) as CheckpointRecord[]);
  }

  /** The statement found the chain elsewhere: an earlier one was committed unheard, or the chain is no longer ours. */
  async function reposition(): Promise<void> {
    const state = await readAuditChain(db, chain.chainId);
    if (state === null || state.writer !== writer) {
      const reason = state === null ? "the chain's record is gone from the database" : `another process writes to chain ${chain.chainId}`;
      journal.fail(reason, new Error(reason));
      stopped = true;
      return;
    }
    recorded = state.shipped;
    // A database that was set back to an earlier backup may ask for segments that were freed long ago.
    const oldest = listSegments(directory)[0]?.number ?? recorded.segment;
    cursor = recorded.segment < oldest ? { segment: oldest, offset: 0 } : recorded;
    if (cursor !== recorded)
      log.error("audit_database_set_back", { chain_id: chain.chainId, database_seq: state.headSeq, shipped_seq: shippedHead.seq });
    shippedHead = { seq: state.headSeq, hash: state.headHash };
    journal.free(cursor);
  }

  /** Ships what is there at its beginning: rows that come meanwhile would go a few at a time, at the price of many. */
  async function drain(): Promise<void> {
    // A journal that has failed still ships what it had stored.
    if (journal.failed === null) await journal.synced().catch(() => undefined);
    const until = journal.stable;
    while (!stopped && isBefore(cursor, until)) {
      if (header.segment !== cursor.segment) header = { segment: cursor.segment, columns: segmentColumns(directory, cursor.segment) };
      const shipment = readShipment(directory, cursor, journal.stable, header.columns, { rows: maxRows, bytes: SHIPMENT.bytes });
      if (shipment === null) break;
      const nothingToShip = shipment.rows.length === 0 && shipment.checkpointCount === 0 && shipment.end.segment === recorded.segment;
      if (nothingToShip) cursor = shipment.end;
      else await send(shipment);
      settleWaiters();
    }
    settleWaiters();
    if (journal.failed !== null) rejectWaiters(journal.failed);
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      if (!pending) await sleep(null);
      if (!stopped && !hurried && chain.head.seq - shippedHead.seq < WAKE_ROWS) await sleep(options.waitMs);
      if (stopped) break;
      pending = false;
      hurried = waiters.length > 0;
      try {
        await drain();
        hurried = waiters.length > 0;
        pending ||= isBefore(cursor, journal.stable);
        backoff = BACKOFF_MS.first;
        if (failing !== null) log.info("audit_shipping_resumed");
        failing = null;
      } catch (error) {
        if (failing === null) log.warn("audit_shipping_delayed", { error: error as Error });
        failing = reasonOf(error);
        pending = true;
        await sleep(backoff);
        backoff = Math.min(BACKOFF_MS.last, backoff * 2);
      }
    }
    stopped = true;
    rejectWaiters("the shipper has stopped");
  }

  const ended = loop();
  return {
    notify() {
      if (pending) {
        // The first row of a batch set the time it may wait; a full batch goes at once.
        if (failing === null && chain.head.seq - shippedHead.seq >= WAKE_ROWS) wakeUp();
        return;
      }
      pending = true;
      wakeUp();
    },
    shipped() {
      const until = journal.written;
      if (stopped) return Promise.reject(new Error("the shipper has stopped"));
      return new Promise((resolve, reject) => {
        waiters.push({ until, resolve, reject });
        hurried = true;
        pending = true;
        wakeUp();
      });
    },
    async stop() {
      stopped = true;
      wakeUp();
      await ended;
    },
    get shippedHead() {
      return shippedHead;
    },
    get failing() {
      return failing;
    },
  };
}

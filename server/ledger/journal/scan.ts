import { GENESIS_HASH } from "@gatehouse/ledger-format/canonical";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import type { Log } from "../../kernel/log.ts";
import type { ChainHead } from "../chains/chain.ts";
import { type RecordRead, readRecord } from "./record.ts";
import { lineId, readRowLine } from "../row-line.ts";
import { type JournalFiles, type Segment, listSegments, segmentPath } from "./segments.ts";
import { type CheckpointRecord, type CheckpointState, JournalDamaged, type JournalScan, type SegmentHeader } from "./journal-contents.ts";

/**
 * Reads all segments, checks every record, and syncs what it found. A torn end of the last segment, as a crash leaves it, is cut off, and a
 * last segment without a complete header is deleted; damage anywhere else throws `JournalDamaged`. Null if there is no journal.
 */
export function scanJournal(directory: string, files: JournalFiles, log: Log): JournalScan | null {
  const listed = listSegments(directory);
  for (let last = listed.at(-1); last !== undefined && dropUnbegun(directory, last.number, files, log); last = listed.at(-1)) listed.pop();
  const segments: Segment[] = [];
  const unsealed = new Map<string, AuditRow>();
  let header: SegmentHeader | null = null;
  let lastRow: Buffer | null = null;
  let lastColumns: readonly string[] = [];
  let checkpoint: CheckpointState | null = null;

  for (const [index, segment] of listed.entries()) {
    const path = segmentPath(directory, segment.number);
    const isLast = index === listed.length - 1;
    const before = listed[index - 1];
    if (before !== undefined && segment.number !== before.number + 1) throw new JournalDamaged(path, 0, "a segment before it is missing");
    const bytes = readFileSync(path);
    let offset = 0;
    while (offset < bytes.length) {
      const record = readRecord(bytes, offset);
      if (record === null || record === "damaged") {
        if (!isLast || holdsRecordAfter(bytes, offset)) throw new JournalDamaged(path, offset, "a record is not what was written");
        break;
      }
      if ((record.type === "H") !== (offset === 0)) throw new JournalDamaged(path, offset, "a header stands in the wrong place");
      if (record.type === "H" && isBehind(record)) throw new JournalDamaged(path, offset, "it was begun before the segment it follows");
      note(record);
      offset = record.end;
    }
    if (offset < bytes.length) log.warn("audit_journal_torn_end", { file: path, offset, dropped_bytes: bytes.length - offset });
    if (offset === 0) throw new JournalDamaged(path, 0, "it has no header");
    settle(path, offset, bytes.length);
    segments.push({ number: segment.number, size: offset });
  }
  if (header === null) return null;
  // TypeScript does not see that `note` assigns these.
  const { chain_id: chainId, writer, head: start } = header as SegmentHeader;
  const head = lastRow === null ? start : headOf(lastRow, lastColumns);
  return { segments, chainId, writer, head, checkpoint, unsealed };

  function isBehind({ payload }: RecordRead): boolean {
    if (header === null) return false;
    const before = lastRow === null ? header.head : headOf(lastRow, lastColumns);
    return (JSON.parse(payload.toString()) as SegmentHeader).head.seq < before.seq;
  }

  function note({ type, payload }: RecordRead): void {
    const columns = header?.columns ?? [];
    if (type === "B") {
      const row = JSON.parse(payload.toString()) as AuditRow;
      unsealed.set(row.id as string, row);
    } else if (type === "R") {
      unsealed.delete(lineId(payload));
      lastRow = payload;
      lastColumns = columns;
    } else if (type === "C") {
      const { checkpoint_no: no, chain_seq: seq, digest } = JSON.parse(payload.toString()) as CheckpointRecord;
      checkpoint = { no, seq, digest };
    } else {
      const next = JSON.parse(payload.toString()) as SegmentHeader;
      if (header !== null && header.chain_id !== next.chain_id)
        throw new Error(`the audit journal in ${directory} holds two chains, ${header.chain_id} and ${next.chain_id}`);
      header = next;
      // The header was written knowing everything before it, and possibly more from the database.
      lastRow = null;
      checkpoint = next.checkpoint;
    }
  }
}

function headOf(payload: Buffer, columns: readonly string[]): ChainHead {
  const { chain_seq: seq, row_hash: hash } = readRowLine(payload.toString(), columns);
  return { seq: seq ?? 0, hash: hash ?? GENESIS_HASH };
}

/** Deletes a segment that contains no record: nothing in it was ever acknowledged. */
function dropUnbegun(directory: string, number: number, files: JournalFiles, log: Log): boolean {
  const path = segmentPath(directory, number);
  const bytes = readFileSync(path);
  const header = readRecord(bytes, 0);
  if ((header !== null && header !== "damaged") || holdsRecordAfter(bytes, 0)) return false;
  if (bytes.length > 0) log.warn("audit_journal_torn_end", { file: path, offset: 0, dropped_bytes: bytes.length });
  files.remove(path);
  const place = files.openDirectory(directory);
  files.syncDirectory(place);
  files.close(place);
  return true;
}

/** Whether a complete record follows a bad one: then the bad one is no torn end. */
function holdsRecordAfter(bytes: Buffer, offset: number): boolean {
  for (let lf = bytes.indexOf(10, offset); lf >= 0; lf = bytes.indexOf(10, lf + 1)) {
    const record = readRecord(bytes, lf + 1);
    if (record !== null && record !== "damaged") return true;
  }
  return false;
}

/** Cuts off a torn end, and syncs what a killed writer may have left only in the page cache. */
function settle(path: string, end: number, length: number): void {
  const fd = openSync(path, "r+");
  try {
    if (end < length) ftruncateSync(fd, end);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

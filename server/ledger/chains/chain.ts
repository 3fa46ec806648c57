import { rowHash } from "@gatehouse/ledger-format/canonical";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { LINE_COLUMNS, type RowColumns } from "../row-line.ts";

const [CHAIN_ID, CHAIN_SEQ, PREV_HASH, ROW_HASH] = (["chain_id", "chain_seq", "prev_hash", "row_hash"] as const).map((name) =>
  LINE_COLUMNS.indexOf(name),
) as [number, number, number, number];

export interface ChainHead {
  /** 0 before the first row. */
  readonly seq: number;
  /** Lower-case hex; 64 zeros before the first row. */
  readonly hash: string;
}

export interface ChainLink {
  readonly chain_id: string;
  readonly chain_seq: number;
  readonly prev_hash: string;
  readonly row_hash: string;
}

/** The chain of one writer, which assigns each row its position, in the order of calls and without gaps. */
export interface Chain {
  readonly chainId: string;
  readonly head: ChainHead;
  /** Makes `row` the head. It must be the next row written, or nothing may be written any more. */
  append(row: AuditRow): ChainLink;
}

export function chainAt(chainId: string, start: ChainHead): Chain {
  let head = start;
  return {
    chainId,
    get head() {
      return head;
    },
    append(row) {
      const seq = head.seq + 1;
      const hash = rowHash(row, "v2", head.hash);
      const link = { chain_id: chainId, chain_seq: seq, prev_hash: head.hash, row_hash: hash };
      head = { seq, hash };
      return link;
    },
  };
}

/** The row's journal line, with its chain fields filled in. */
export function chainedLine(columns: RowColumns, link: ChainLink): string {
  columns.set(CHAIN_ID, link.chain_id);
  columns.set(CHAIN_SEQ, link.chain_seq);
  columns.set(PREV_HASH, link.prev_hash);
  columns.set(ROW_HASH, link.row_hash);
  return columns.line();
}

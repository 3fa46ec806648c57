import type { AuditShipment } from "../../store/ledger/audit-shipping.ts";
import type { ChainHead } from "../chains/chain.ts";
import { lineId, readRowLine } from "../row-line.ts";

/** A row's line without its line feed. */
export const lineText = (line: Buffer): string => line.toString("utf8", 0, line.length - 1);

export function headOf(line: Buffer, columns: readonly string[]): ChainHead {
  const { chain_seq: seq, row_hash: hash } = readRowLine(lineText(line), columns);
  return { seq: seq ?? 0, hash: hash ?? "" };
}

export function idRangeOf(rows: readonly Buffer[]): AuditShipment["idRange"] {
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

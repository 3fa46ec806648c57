import { FIELDS, type AuditRow, type FieldName } from "@gatehouse/ledger-format/fields";
import { HASH_FORMATS } from "@gatehouse/ledger-format/hash-formats";
import { givesHash, PLAIN_TEXT, PLAIN_VALUES } from "@gatehouse/ledger-format/plain-values";
import type { SealedRow } from "@gatehouse/ledger-format/sealed-row";
import { CHAIN_ROW_COLUMNS } from "../../store/ledger/chain-row-columns.ts";
import { type ChainPlace, copyChainRows } from "../../store/ledger/chain-rows.ts";
import type { HeldConnection } from "../../store/connections/held-connection.ts";

/** A row of a chain, as read for verification. */
export type StoredRow =
  /** Its values were found to match its hash. */
  | { readonly proven: true; readonly row: SealedRow & Pick<AuditRow, "tenant_id"> }
  /** Still to be verified. */
  | { readonly proven: false; readonly row: AuditRow };

/** Rows per page: large enough that planning a query over many partitions costs little in comparison. */
const PAGE = 2_000;
/** Rows handled at a time, so that the work between two pieces hardly delays calls being served. */
const PIECE = 500;

export interface ChainRange {
  readonly chainId: string;
  /** Bounds of chain_seq; null for open. */
  readonly from: number | null;
  readonly last: number | null;
}

/** The rows of a chain ordered by chain_seq and ID, those without a position last. `held` must be in a transaction. */
export async function* readStoredRows(held: HeldConnection, range: ChainRange): AsyncGenerator<StoredRow[]> {
  // Forces the chain index, which has the order: without statistics the planner may prefer sorting all rows for each page.
  await held.client.query(
    "SET LOCAL enable_sort = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off",
  );
  yield* readPages(held, range, false);
  if (range.from === null && range.last === null) yield* readPages(held, range, true);
}

async function* readPages(held: HeldConnection, range: ChainRange, unplaced: boolean): AsyncGenerator<StoredRow[]> {
  const pageAfter = (after: ChainPlace | null) => copyChainRows(held.client, { ...range, unplaced, after, limit: PAGE });
  for (let page: Promise<string[]> | null = pageAfter(null); page !== null;) {
    const lines: string[] = await page;
    // The database prepares the next page while this one is processed.
    page = lines.length < PAGE ? null : pageAfter(placeOf(judgedRow(lines.at(-1) as string)));
    // If the reader stops early, nobody awaits this page.
    page?.catch(() => undefined);
    for (let at = 0; at < lines.length; at += PIECE) {
      yield lines.slice(at, at + PIECE).map((line): StoredRow => {
        const row = provenRow(line);
        return row === null ? { proven: false, row: judgedRow(line) } : { proven: true, row };
      });
      await new Promise(setImmediate);
    }
  }
}

const placeOf = ({ chain_seq, id }: AuditRow): ChainPlace => ({ seq: chain_seq ?? 0, id: id ?? "" });

const HASHED: readonly FieldName[] = HASH_FORMATS.v2;
const plainValue = (name: FieldName): string =>
  `(?:${name === "timestamp" ? PLAIN_VALUES.timestamp : PLAIN_VALUES[FIELDS[name].type as "text"]}|null)`;
const HASHED_VALUES = HASHED.map((name) => (name === "id" || name === "tenant_id" ? `(${plainValue(name)})` : plainValue(name))).join(",");
const OPTIONAL = `(${PLAIN_TEXT}|null)`;
/** The hashed values as one group (containing groups for id and tenant_id), then the other columns. */
const LINE = new RegExp(
  `^(${HASHED_VALUES}),${OPTIONAL},"([0-9a-f]{64})","([0-9a-f]{64})",${OPTIONAL},${OPTIONAL},${OPTIONAL},(\\d{1,15}),${PLAIN_TEXT}\\n$`,
);

function provenRow(line: string): (SealedRow & Pick<AuditRow, "tenant_id">) | null {
  const found = LINE.exec(line) as string[] | null;
  if (found === null) return null;
  const [, values, id, tenantId, chainId, prevHash, rowHash, createdAt, prunedAt, erasedAt, seq] = found as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  if (!givesHash(values, prevHash, rowHash)) return null;
  return {
    id: unquoted(id),
    tenant_id: unquoted(tenantId),
    chain_id: unquoted(chainId),
    chain_seq: Number(seq),
    prev_hash: prevHash,
    row_hash: rowHash,
    created_at: unquoted(createdAt),
    bodies_pruned_at: unquoted(prunedAt),
    erased_at: unquoted(erasedAt),
  };
}

function unquoted(value: string): string | null {
  return value === "null" ? null : value.slice(1, -1);
}

const VALUE = /"((?:[^"]|"")*)"[,\n]|([^,\n"]*)[,\n]/y;

function judgedRow(line: string): AuditRow {
  const row: Record<string, unknown> = {};
  VALUE.lastIndex = 0;
  for (const name of CHAIN_ROW_COLUMNS) {
    const found = VALUE.exec(line);
    if (found === null) throw new Error("PostgreSQL gave a row of the ledger that is not CSV");
    const [, quoted, bare = ""] = found;
    row[name] = quoted === undefined ? bareValue(name, bare) : quoted.replaceAll('""', '"');
  }
  return row as AuditRow;
}

function bareValue(name: FieldName, value: string): unknown {
  if (value === "null") return null;
  return FIELDS[name].type === "boolean" ? value === "true" : Number(value);
}

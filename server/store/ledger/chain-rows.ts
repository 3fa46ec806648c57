import { FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import type pg from "pg";
import { isoText } from "./audit-columns.ts";
import { CHAIN_ROW_COLUMNS } from "./chain-row-columns.ts";
import { copyOut } from "../records/copy-out.ts";

/** A row's position in chain order. */
export interface ChainPlace {
  readonly seq: number;
  readonly id: string;
}

export interface ChainRowsPage {
  readonly chainId: string;
  /** Return only rows without a position, instead of those with one. */
  readonly unplaced: boolean;
  readonly after: ChainPlace | null;
  /** Bounds of `chain_seq`; null if open. */
  readonly from: number | null;
  readonly last: number | null;
  readonly limit: number;
}

const isQuoted = (name: FieldName): boolean => FIELDS[name].type === "text" || FIELDS[name].type === "timestamp";

function printed(name: FieldName): string {
  const column = `audit_rows.${name}`;
  if (FIELDS[name].type === "timestamp") return isoText(column);
  return FIELDS[name].type === "boolean" ? `${column}::text` : column;
}

// Aliases, so that ORDER BY refers to the table's columns and not to their printed text.
const SELECTED = CHAIN_ROW_COLUMNS.map((name, index) => `${printed(name)} AS c${index}`).join(", ");
const QUOTED = CHAIN_ROW_COLUMNS.flatMap((name, index) => (isQuoted(name) ? [`c${index}`] : [])).join(", ");

/**
 * Rows of a chain ordered by chain_seq and ID, as CSV lines: texts and times are quoted, nulls and booleans are words. This is the RFC 8785
 * form of the same values, except for texts with quotes, backslashes or control characters. COPY costs the database a third of selecting
 * the same columns as JSON.
 */
export function copyChainRows(client: pg.PoolClient, page: ChainRowsPage): Promise<string[]> {
  // COPY takes no parameters.
  const text = (value: string) => client.escapeLiteral(value);
  const number = (value: number) => text(String(value));
  const bounds = [`chain_id = ${text(page.chainId)}`, page.unplaced ? "chain_seq IS NULL" : "chain_seq IS NOT NULL"];
  if (page.from !== null) bounds.push(`chain_seq >= ${number(page.from)}`);
  if (page.last !== null) bounds.push(`chain_seq <= ${number(page.last)}`);
  if (page.after !== null)
    bounds.push(
      page.unplaced
        ? `audit_rows.id > ${text(page.after.id)}`
        : `(chain_seq, audit_rows.id) > (${number(page.after.seq)}, ${text(page.after.id)})`,
    );
  return copyOut(
    client,
    `COPY (SELECT ${SELECTED} FROM audit_rows WHERE ${bounds.join(" AND ")} ORDER BY chain_seq, audit_rows.id LIMIT ` +
      `${page.limit}) TO STDOUT WITH (FORMAT csv, NULL 'null', FORCE_QUOTE (${QUOTED}))`,
  );
}

import { FIELD_NAMES, FIELDS, type FieldName } from "./fields.ts";
import type { FieldType } from "./field-types.ts";
import { HASH_FORMATS } from "./hash-formats.ts";
import { PLAIN_TEXT, PLAIN_VALUES, givesHash } from "./plain-values.ts";
import type { SealedRow } from "./sealed-row.ts";

const HASHED: readonly FieldName[] = HASH_FORMATS.v2;
const SEALED = [
  "chain_id",
  "chain_seq",
  "prev_hash",
  "row_hash",
  "created_at",
  "bodies_pruned_at",
  "erased_at",
] as const satisfies readonly (keyof SealedRow)[];
const ASKED: readonly FieldName[] = FIELD_NAMES.filter((name) => HASHED.includes(name) || (SEALED as readonly FieldName[]).includes(name));

/** The JSON forms allowed for fields that are skipped: any string or number, and containers of one level. */
const TEXT = '"[^"\\\\\\x00-\\x1f]*(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\\\\x00-\\x1f]*)*"';
const NUMBER = "-?(?:0|[1-9]\\d*)(?:\\.\\d+)?";
const SCALAR = `(?:${TEXT}|${NUMBER}|true|false|null)`;
const PASSED_OVER: Readonly<Record<FieldType, string>> = {
  text: TEXT,
  timestamp: TEXT,
  integer: PLAIN_VALUES.integer,
  number: NUMBER,
  boolean: PLAIN_VALUES.boolean,
  json: `\\[(?:${SCALAR}(?:,${SCALAR})*)?\\]|\\{(?:${TEXT}:${SCALAR}(?:,${TEXT}:${SCALAR})*)?\\}`,
};

function member(name: FieldName): string {
  const { type } = FIELDS[name];
  const value = ASKED.includes(name)
    ? `(${name === "timestamp" ? PLAIN_VALUES.timestamp : type === "timestamp" || type === "text" ? PLAIN_TEXT : PLAIN_VALUES[type as "integer"]})`
    : `(?:${PASSED_OVER[type]})`;
  return `(?:"${name}":${value}(?:,|(?=\\}\\}\\n)))?`;
}

/** Matches a row line whose fields are in table order, as exports write them. */
const LINE = new RegExp(`\\{"type":"row","row":\\{${FIELD_NAMES.map(member).join("")}\\}\\}\\n`, "y");

const groupOf = (name: FieldName): number => 1 + ASKED.indexOf(name);
const HASHED_GROUPS = HASHED.map(groupOf);
const [ID, CHAIN_ID, CHAIN_SEQ, PREV_HASH, ROW_HASH, CREATED_AT, PRUNED_AT, ERASED_AT] = (["id", ...SEALED] as const).map(groupOf) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

export interface ProvenLine {
  readonly row: SealedRow;
  /** Offset of the next line. */
  readonly end: number;
}

/**
 * Verifies the hash of the row at offset `at` without parsing it, from its values as they stand in the file; nearly all lines allow that.
 * Returns null if the line must be parsed instead: its hash does not match, it has an older format, escapes or another field order, or it
 * is not a row.
 */
export function provenLine(text: string, at: number): ProvenLine | null {
  LINE.lastIndex = at;
  const found = LINE.exec(text) as (string | undefined)[] | null;
  if (found === null) return null;
  const values = HASHED_GROUPS.map((group) => found[group] ?? "null");
  const prev_hash = unquoted(found[PREV_HASH]);
  const row_hash = unquoted(found[ROW_HASH]);
  if (prev_hash === null || row_hash === null || found[CHAIN_SEQ] === undefined || !givesHash(values.join(","), prev_hash, row_hash))
    return null;
  return {
    row: {
      id: unquoted(found[ID]),
      chain_id: unquoted(found[CHAIN_ID]),
      chain_seq: Number(found[CHAIN_SEQ]),
      prev_hash,
      row_hash,
      created_at: unquoted(found[CREATED_AT]),
      bodies_pruned_at: unquoted(found[PRUNED_AT]),
      erased_at: unquoted(found[ERASED_AT]),
    },
    end: LINE.lastIndex,
  };
}

function unquoted(value: string | undefined): string | null {
  return value === undefined ? null : value.slice(1, -1);
}

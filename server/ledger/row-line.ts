import { FIELD_NAMES, FIELDS, type AuditRow, type FieldName } from "@gatehouse/ledger-format/fields";
import type { FieldType } from "@gatehouse/ledger-format/field-types";

/**
 * A row as one line of the journal, in PostgreSQL's COPY text format with one column per field in the order of the fields table. The
 * shipper sends the line unchanged, so a row is serialised only once.
 */

/** The columns this release writes. A journal segment names its own, which may be an earlier release's. */
export const LINE_COLUMNS: readonly FieldName[] = FIELD_NAMES;

const ABSENT = "\\N";

const NEEDS_ESCAPE = /[\\\n\r\t]/;

/** Escapes bytes 8, 9, 10, 13 and backslashes as COPY does. */
function escapeColumn(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return text;
  let escaped = text.includes("\\") ? text.replaceAll("\\", "\\\\") : text;
  if (escaped.includes("\n")) escaped = escaped.replaceAll("\n", "\\n");
  if (escaped.includes("\r")) escaped = escaped.replaceAll("\r", "\\r");
  if (escaped.includes("\t")) escaped = escaped.replaceAll("\t", "\\t");
  return escaped;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\\": "\\" };

function unescapeColumn(text: string): string {
  return text.includes("\\") ? text.replace(/\\([nrt\\])/g, (_, letter: string) => ESCAPES[letter] as string) : text;
}

/** A column of a stored line as the field's type; null if absent. */
function columnValue(type: FieldType, text: string): unknown {
  if (text === ABSENT) return null;
  switch (type) {
    case "integer":
    case "number":
      return Number(text);
    case "boolean":
      return text === "t";
    case "json":
      return JSON.parse(unescapeColumn(text));
    default:
      return unescapeColumn(text);
  }
}

/** The row in a line, without absent fields. `columns`: those of the line's segment. */
export function readRowLine(line: string, columns: readonly string[] = LINE_COLUMNS): AuditRow {
  const row: Record<string, unknown> = {};
  for (const [index, text] of line.split("\t").entries()) {
    const name = columns[index];
    const field = name === undefined ? undefined : (FIELDS as Readonly<Record<string, { type: FieldType }>>)[name];
    if (name === undefined || field === undefined) continue;
    const value = columnValue(field.type, text);
    if (value !== null) row[name] = value;
  }
  return row as AuditRow;
}

function columnText(type: FieldType, value: unknown): string {
  switch (type) {
    case "integer":
    case "number":
      return String(value);
    case "boolean":
      return value === true ? "t" : "f";
    case "json":
      return escapeColumn(JSON.stringify(value));
    default:
      return escapeColumn(value as string);
  }
}

/** Types of the columns, by position. */
export const TYPES: readonly FieldType[] = LINE_COLUMNS.map((name) => FIELDS[name].type);

/** The position of each field's column in a line. */
export const PLACE_OF: ReadonlyMap<string, number> = new Map(LINE_COLUMNS.map((name, place) => [name, place]));
const NOTHING: readonly string[] = LINE_COLUMNS.map(() => ABSENT);

/**
 * Builds a line; all columns are absent at first. Most fields of a row are, so writers iterate over the fields a row has rather than all
 * fields.
 */
export class RowColumns {
  private readonly columns = NOTHING.slice();

  /** `value` must be of the field's type, and not null. */
  set(place: number, value: unknown): void {
    this.columns[place] = columnText(TYPES[place] as FieldType, value);
  }

  /** The complete line, without its line feed. */
  line(): string {
    return this.columns.join("\t");
  }
}

/** The complete line of a storable row (`row.ts`), without its line feed. */
export function rowLine(row: AuditRow): string {
  const columns = new RowColumns();
  for (const [place, name] of LINE_COLUMNS.entries()) if (row[name] !== null && row[name] !== undefined) columns.set(place, row[name]);
  return columns.line();
}

/** The ID in a stored line, which is the first column, without parsing the rest. */
export function lineId(payload: Buffer): string {
  const end = payload.indexOf(9);
  return payload.toString("latin1", 0, end < 0 ? payload.length : end);
}

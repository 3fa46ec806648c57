import { FIELD_NAMES, FIELDS, type AuditRow, type FieldName } from "@gatehouse/ledger-format/fields";
import type { FieldType } from "@gatehouse/ledger-format/field-types";

/**
 * A row as one line of the journal: PostgreSQL's COPY text format, one column for each field in the order of the fields
 * table. The shipper hands the line to the database as it stands, so that a row is serialised once in its life.
 */

/** Columns of the lines this release writes. A journal segment names its own, which an earlier release may have written. */
export const LINE_COLUMNS: readonly FieldName[] = FIELD_NAMES;

const ABSENT = "\\N";

const NEEDS_ESCAPE = /[\\\n\r\t]/;

/** Bytes 8, 9, 10 and 13 as COPY knows them; a backslash in front of itself. */
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

/** A column of a stored line as the field's own type; null when absent. */
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

/** The row a line holds, absent fields left out. `columns` are those of the segment it stands in. */
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

/** Types of the columns, by place. */
export const TYPES: readonly FieldType[] = LINE_COLUMNS.map((name) => FIELDS[name].type);

/** The index of a field's column in a line. */
export const PLACE_OF: ReadonlyMap<string, number> = new Map(LINE_COLUMNS.map((name, place) => [name, place]));
const NOTHING: readonly string[] = LINE_COLUMNS.map(() => ABSENT);

/**
 * A line while it is written: its columns' text in their order, all absent at first. Most fields of a row are absent, so
 * whoever writes one goes over what the row has and not over what it could have.
 */
export class RowColumns {
  private readonly columns = NOTHING.slice();

  /** `value` is of the field's type and there. */
  set(place: number, value: unknown): void {
    this.columns[place] = columnText(TYPES[place] as FieldType, value);
  }

  /** The whole line, without its line feed. */
  line(): string {
    return this.columns.join("\t");
  }
}

/** The whole line of a row that is storable (`row.ts`), without its line feed. */
export function rowLine(row: AuditRow): string {
  const columns = new RowColumns();
  for (const [place, name] of LINE_COLUMNS.entries()) if (row[name] !== null && row[name] !== undefined) columns.set(place, row[name]);
  return columns.line();
}

/** The id of a stored line, without reading the rest: it is the first column. */
export function lineId(payload: Buffer): string {
  const end = payload.indexOf(9);
  return payload.toString("latin1", 0, end < 0 ? payload.length : end);
}

import { FIELD_NAMES, FIELDS, type AuditRow, type FieldName, type FieldType } from "@gatehouse/ledger-format/fields";

/**
 * A row as one line of the journal: PostgreSQL's COPY text format, one column for each field in the order of the fields
 * table. The shipper hands the line to the database as it stands, so that a row is serialised once in its life.
 */

/** Columns of the lines this release writes. A journal segment names its own, which an earlier release may have written. */
export const LINE_COLUMNS: readonly FieldName[] = FIELD_NAMES;

const ABSENT = "\\N";

/** Bytes 8, 9, 10 and 13 as COPY knows them; a backslash in front of itself. */
export function escapeColumn(text: string): string {
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
  if (value === null || value === undefined) return ABSENT;
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

const TYPES: readonly FieldType[] = LINE_COLUMNS.map((name) => FIELDS[name].type);

/** The columns from one field up to another, of a row that is storable (`row.ts`). */
export function lineColumns(row: AuditRow, from: number, to: number): string {
  let line = "";
  for (let i = from; i < to; i++) {
    const value: unknown = row[LINE_COLUMNS[i] as FieldName];
    const text = value === null || value === undefined ? ABSENT : columnText(TYPES[i] as FieldType, value);
    line += i === from ? text : `\t${text}`;
  }
  return line;
}

/** The whole line, without its line feed. */
export function rowLine(row: AuditRow): string {
  return lineColumns(row, 0, LINE_COLUMNS.length);
}

/** The id of a stored line, without reading the rest: it is the first column. */
export function lineId(payload: Buffer): string {
  const end = payload.indexOf(9);
  return payload.toString("latin1", 0, end < 0 ? payload.length : end);
}

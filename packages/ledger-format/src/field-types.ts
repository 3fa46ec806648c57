/**
 * Every field of an audit row, declared once. The row type, the table's columns, the query filters and the reference page are derived from
 * it.
 *
 * kind: `witnessed` was seen by the gateway, `asserted` was claimed by the caller, `derived` was computed when the row was written. Which
 * fields the row hash covers is decided only by the hash formats (hash-formats.ts). A field that does not apply is null, never a default
 * that looks like a fact.
 */

export type FieldKind = "witnessed" | "asserted" | "derived";

export interface TypeOf {
  text: string;
  integer: number;
  number: number;
  boolean: boolean;
  /** ISO 8601 UTC with six decimals. */
  timestamp: string;
  json: unknown;
}

export type FieldType = keyof TypeOf;

export interface Field<T extends FieldType = FieldType> {
  readonly kind: FieldKind;
  readonly type: T;
  readonly about: string;
}

export const witnessed = <T extends FieldType>(type: T, about: string): Field<T> => ({ kind: "witnessed", type, about });
export const asserted = <T extends FieldType>(type: T, about: string): Field<T> => ({ kind: "asserted", type, about });
export const derived = <T extends FieldType>(type: T, about: string): Field<T> => ({ kind: "derived", type, about });

import { sql } from "kysely";
import type { SecretBox } from "../../kernel/secrets.ts";
import type { Database } from "../database.ts";
import { SEALED_PLACES, type SealedPlace } from "./sealed-places.ts";

/** A stored record with encrypted values. */
export interface SealedRecord {
  readonly place: SealedPlace;
  readonly row: Readonly<Record<string, string>>;
  /** The column as it is stored. */
  readonly stored: string;
  readonly values: readonly string[];
  readonly context: string;
}

const PAGE = 500;

/** The records with encrypted values in a place, in the order of their keys; `most` of them if given. */
export async function* sealedRecords(db: Database, place: SealedPlace, most = Number.POSITIVE_INFINITY): AsyncGenerator<SealedRecord> {
  const { table, column, key, also = [] } = place;
  // With the table, because the columns that are shown are texts of the same names, in another order.
  const refs = sql.join(key.map((name) => sql.ref(`${table}.${name}`)));
  const shown = sql.join([...key, ...also].map((name) => sql`${sql.ref(name)}::text AS ${sql.ref(name)}`));
  let last: readonly string[] | null = null;
  for (let left = most; left > 0; left -= PAGE) {
    const after: readonly string[] | null = last;
    const { rows } = await sql<Record<string, string>>`
      SELECT ${shown}, ${sql.ref(column)}::text AS stored_value FROM ${sql.table(table)}
       WHERE ${sql.ref(column)} IS NOT NULL ${after === null ? sql`` : sql`AND (${refs}) > (${sql.join(after)})`}
       ORDER BY ${refs} LIMIT ${Math.min(PAGE, left)}`.execute(db);
    for (const { stored_value: stored = "", ...row } of rows) {
      const values = place.member === undefined ? [stored] : membersOf(stored, place.member);
      yield { place, row, stored, values, context: place.context(row) };
    }
    const newest = rows.at(-1);
    if (newest === undefined || rows.length < PAGE) return;
    last = key.map((name) => newest[name] ?? "");
  }
}

function membersOf(stored: string, member: string): string[] {
  const found: string[] = [];
  JSON.parse(stored, (name, value: unknown) => {
    if (name === member && typeof value === "string") found.push(value);
    return value;
  });
  return found;
}

/** How many values of one kind are under which key. */
export interface SealedCount {
  readonly kind: string;
  readonly isBrief: boolean;
  current: number;
  other: number;
  unreadable: number;
  /** A record that none of the keys opens. */
  firstUnreadable: string | null;
}

/** The keys to look for: `own` alone, and all that are given. */
export interface Boxes {
  readonly own: SecretBox;
  readonly all: SecretBox;
}

/** Counts every kind of which there are any. Without keys everything is unreadable. `most`: records per place. */
export async function countSealed(db: Database, boxes: Boxes | null, most?: number): Promise<SealedCount[]> {
  const counts: SealedCount[] = [];
  for (const place of SEALED_PLACES) {
    const isBrief = place.isBrief === true;
    const count: SealedCount = { kind: place.kind, isBrief, current: 0, other: 0, unreadable: 0, firstUnreadable: null };
    for await (const { values, context, row } of sealedRecords(db, place, most)) {
      for (const value of values) {
        const state = stateOf(value, context, boxes);
        count[state] += 1;
        if (state === "unreadable") count.firstUnreadable ??= `${place.table} ${place.key.map((name) => row[name]).join(" ")}`;
      }
    }
    if (count.current + count.other + count.unreadable > 0) counts.push(count);
  }
  return counts;
}

function stateOf(value: string, context: string, boxes: Boxes | null): "current" | "other" | "unreadable" {
  if (boxes === null) return "unreadable";
  if (boxes.own.openOrNull(value, context) !== null) return "current";
  return boxes.all.openOrNull(value, context) === null ? "unreadable" : "other";
}

/**
 * Encrypts under `own` what only the other keys open. Each record is one statement, and stays as it is if somebody changed it meanwhile, so
 * that this can be broken off at any point and begun again. Resolves with the values that were encrypted again, by kind.
 */
export async function resealAll(db: Database, boxes: Boxes): Promise<ReadonlyMap<string, number>> {
  const done = new Map<string, number>();
  for (const place of SEALED_PLACES) {
    for await (const record of sealedRecords(db, place)) {
      const old = record.values.filter((value) => stateOf(value, record.context, boxes) === "other");
      if (old.length === 0 || !(await replaceValues(db, record, resealed(record, old, boxes)))) continue;
      done.set(place.kind, (done.get(place.kind) ?? 0) + old.length);
    }
  }
  return done;
}

/** Replaced in the text, so that the rest of a JSON document stays as it is. */
function resealed({ stored, context }: SealedRecord, old: readonly string[], { own, all }: Boxes): string {
  return old.reduce((text, value) => text.replaceAll(value, own.seal(all.open(value, context), context)), stored);
}

async function replaceValues(db: Database, { place, row, stored }: SealedRecord, next: string): Promise<boolean> {
  const { table, column, key, member } = place;
  const where = sql.join(
    key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
    sql` AND `,
  );
  const { numAffectedRows } = await sql`
    UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${member === undefined ? sql`${next}` : sql`${next}::jsonb`}
     WHERE ${where} AND ${sql.ref(column)}::text = ${stored}`.execute(db);
  return numAffectedRows === 1n;
}

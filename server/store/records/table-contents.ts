import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";

/** A table as `COPY` reads and writes it. A backup consists of all rows of all tables. */

export interface TableContents {
  readonly name: string;
  readonly columns: readonly string[];
}

/** A digest of a table's rows independent of their order: their number, and the sum of their SHA-256 modulo 2^256. */
export interface RowsDigest {
  readonly rows: number;
  readonly digest: string;
}

/** Makes the text of a value the same whatever the server and session settings. */
const PLAIN_TEXT =
  "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; " +
  "SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'; SET LOCAL statement_timeout = 0";
const MODULUS = 1n << 256n;
const LINE_FEED = 0x0a;
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/**
 * Begins a consistent read of the whole database, until the transaction ends. Waits until no monthly partitions are being dropped: an older
 * snapshot would miss rows that were moved out of dropped partitions.
 */
export async function beginReading(client: pg.ClientBase): Promise<void> {
  await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${PLAIN_TEXT}; LOCK TABLE audit_rows IN ACCESS SHARE MODE`);
}

export async function beginLoading(client: pg.ClientBase): Promise<void> {
  await client.query(`BEGIN; ${PLAIN_TEXT}`);
}

/**
 * Every table except the record of migrations; partitioned tables as a whole. Unlogged tables are left out: nothing needs their rows later,
 * and a standby, which backups may be made from, does not have them.
 */
export async function listTables(client: pg.ClientBase): Promise<TableContents[]> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(`
    SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND NOT c.relispartition
      AND c.relname <> 'schema_migrations'
    GROUP BY 1 ORDER BY 1`);
  return rows;
}

/** The last value of each sequence by name; null if it was never used. */
export async function readSequences(client: pg.ClientBase): Promise<Record<string, string | null>> {
  const { rows } = await client.query<{ name: string; last: string | null }>(
    "SELECT sequencename AS name, last_value::text AS last FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1",
  );
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
}

export async function setSequences(client: pg.ClientBase, sequences: Readonly<Record<string, string | null>>): Promise<void> {
  for (const [name, last] of Object.entries(sequences))
    if (last !== null) await client.query("SELECT setval($1::regclass, $2::bigint)", [quoted(name), last]);
}

/** First days of the months that have audit partitions. */
export async function readPartitions(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ month: string }>(`
    SELECT replace(right(c.relname, 7), '_', '-') || '-01' AS month FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'audit_rows'::regclass AND c.relname ~ '^audit_rows_[0-9]{4}_[0-9]{2}$' ORDER BY 1`);
  return rows.map(({ month }) => month);
}

export async function makePartitions(client: pg.ClientBase, months: readonly string[]): Promise<void> {
  for (const month of months) await client.query("SELECT ensure_audit_partition($1::timestamptz)", [`${month}T00:00:00Z`]);
}

/** The rows of a table as lines; also feeds them to `counted`. */
export async function* copyRows(client: pg.ClientBase, { name, columns }: TableContents, counted: RowsCount): AsyncGenerator<Buffer> {
  const stream = client.query(copyTo(`COPY (SELECT ${columns.map(quoted).join(", ")} FROM ${quoted(name)}) TO STDOUT`));
  for await (const piece of stream as AsyncIterable<Buffer>) {
    counted.add(piece);
    yield piece;
  }
}

export async function loadRows(client: pg.ClientBase, { name, columns }: TableContents, lines: AsyncIterable<Uint8Array>): Promise<void> {
  const into = client.query(copyFrom(`COPY ${quoted(name)} (${columns.map(quoted).join(", ")}) FROM STDIN`));
  await pipeline(Readable.from(lines, { objectMode: false }), into);
}

/** Counts and digests lines that arrive in chunks of any size. */
export class RowsCount {
  private rows = 0;
  private sum = 0n;
  private rest: Buffer[] = [];

  add(piece: Uint8Array): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
      const digest = createHash("sha256");
      for (const part of this.rest) digest.update(part);
      this.rest = [];
      this.sum = (this.sum + BigInt(`0x${digest.update(bytes.subarray(from, at)).digest("hex")}`)) % MODULUS;
      this.rows++;
      from = at + 1;
    }
    if (from < bytes.byteLength) this.rest.push(Buffer.from(bytes.subarray(from)));
  }

  get result(): RowsDigest {
    return { rows: this.rows, digest: this.sum.toString(16).padStart(64, "0") };
  }
}

/** Runs `load` on empty tables without triggers and reference checks, then checks all references. Call within a transaction. */
export async function withoutRules(client: pg.ClientBase, load: () => Promise<void>): Promise<void> {
  const { rows: references } = await client.query<{ table: string; name: string; definition: string }>(`
    SELECT c.conrelid::regclass::text AS table, c.conname AS name, pg_get_constraintdef(c.oid) AS definition
    FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
    WHERE c.contype = 'f' AND c.conparentid = 0 AND t.relnamespace = current_schema()::regnamespace`);
  const tables = await listTables(client);
  for (const { table, name } of references) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${quoted(name)}`);
  for (const { name } of tables) await client.query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`);
  for (const { name } of tables) await client.query(`DELETE FROM ${quoted(name)}`);
  await load();
  for (const { name } of tables) await client.query(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`);
  for (const { table, name, definition } of references)
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${quoted(name)} ${definition}`);
}

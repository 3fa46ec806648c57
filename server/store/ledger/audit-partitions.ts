import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";

/** Creates the partitions of the month of `now` and of the next two. */
export async function ensurePartitions(db: Database, now: Date): Promise<void> {
  for (let month = 0; month < 3; month++)
    await sql`SELECT ensure_audit_partition(date_trunc('month', ${now}::timestamptz, 'UTC') + ${month} * interval '32 days')`.execute(db);
}

/** ISO date up to which partitions exist; null if there are none. */
export async function ensuredUntil(db: Database): Promise<string | null> {
  const { rows } = await sql<{ until: string | null }>`
    SELECT to_char(to_date(right(max(c.relname), 7), 'YYYY_MM') + interval '1 month', 'YYYY-MM-DD') AS until
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'audit_rows'::regclass AND c.relname ~ '^audit_rows_[0-9]{4}_[0-9]{2}$'`.execute(
    db,
  );
  return rows[0]?.until ?? null;
}

/** Partitions whose rows all arrived before `before`, oldest first. */
export async function partitionsBefore(trx: Trx, before: Date): Promise<string[]> {
  const month = `audit_rows_${before.getUTCFullYear()}_${String(before.getUTCMonth() + 1).padStart(2, "0")}`;
  const { rows } = await sql<{ name: string }>`
    SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'audit_rows'::regclass AND c.relname ~ '^audit_rows_[0-9]{4}_[0-9]{2}$' AND c.relname < ${month} ORDER BY 1`.execute(
    trx,
  );
  return rows.map((row) => row.name);
}

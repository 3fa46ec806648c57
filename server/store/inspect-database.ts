import { sql } from "kysely";
import type { Database } from "./database.ts";

/** Whether the database has any tables. */
export async function hasTables(db: Database): Promise<boolean> {
  const { rows } =
    await sql`SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** The server's major version. */
export async function serverVersion(db: Database): Promise<number> {
  const { rows } = await sql<{ version: string }>`SELECT current_setting('server_version_num') AS version`.execute(db);
  return Math.floor(Number(rows[0]?.version ?? 0) / 10_000);
}

import { sql } from "kysely";
import type { Trx } from "../database.ts";

/** Waits for the advisory lock of this name and holds it until the transaction ends. */
export async function lockName(trx: Trx, name: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
}

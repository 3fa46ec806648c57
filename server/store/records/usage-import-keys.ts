import { sql } from "kysely";
import type { Database } from "../database.ts";

/** The number of enabled imports, and the providers among them without an account key: these fail until one is stored. */
export async function importsWithoutKey(db: Database): Promise<{ readonly enabled: number; readonly keyless: readonly string[] }> {
  const { rows } = await sql<{ provider_id: string; keyed: boolean }>`
    SELECT provider_id::text, api_key_sealed IS NOT NULL AS keyed FROM usage_import_settings WHERE import_enabled ORDER BY 1`.execute(db);
  return { enabled: rows.length, keyless: rows.flatMap(({ provider_id: id, keyed }) => (keyed ? [] : [id])) };
}

import { sql } from "kysely";
import { sealContext, type SecretBox } from "../../kernel/secrets.ts";
import type { Database } from "../database.ts";

/** Where keys of upstreams are stored: the table, what names its record, and the column. */
const PLACES = [
  ["providers", "id", "api_key_sealed"],
  ["models", "id", "api_key_sealed"],
  ["mcp_servers", "id", "api_key_sealed"],
  ["usage_import_settings", "provider_id", "api_key_sealed"],
  ["web_search_providers", "id", "api_key_sealed"],
  ["identity_providers", "id", "client_secret_sealed"],
] as const;
/** Of each table: enough to tell whether the key is the one they were sealed under, however many there are. */
const LOOKED_AT = 1_000;

/** How many of the newest stored upstream keys were looked at, and the records of those `secrets` does not open: without one, of all. */
export async function openStoredKeys(
  db: Database,
  secrets: SecretBox | null,
): Promise<{ readonly looked: number; readonly unreadable: readonly string[] }> {
  let looked = 0;
  const unreadable: string[] = [];
  for (const [table, named, column] of PLACES) {
    const { rows } = await sql<{ id: string; sealed: string }>`
      SELECT ${sql.ref(named)}::text AS id, ${sql.ref(column)} AS sealed FROM ${sql.table(table)}
       WHERE ${sql.ref(column)} IS NOT NULL ORDER BY updated_at DESC LIMIT ${LOOKED_AT}`.execute(db);
    looked += rows.length;
    for (const { id, sealed } of rows)
      if (secrets === null || secrets.openOrNull(sealed, sealContext(table, id)) === null) unreadable.push(`${table} ${id}`);
  }
  return { looked, unreadable };
}

/** Imports that are switched on, and the providers of those without a key of the account: they fail until one is stored. */
export async function importsWithoutKey(db: Database): Promise<{ readonly enabled: number; readonly keyless: readonly string[] }> {
  const { rows } = await sql<{ provider_id: string; keyed: boolean }>`
    SELECT provider_id::text, api_key_sealed IS NOT NULL AS keyed FROM usage_import_settings WHERE import_enabled ORDER BY 1`.execute(db);
  return { enabled: rows.length, keyless: rows.flatMap(({ provider_id: id, keyed }) => (keyed ? [] : [id])) };
}

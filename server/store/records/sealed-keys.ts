import { sql } from "kysely";
import { sealContext, type SecretBox } from "../../kernel/secrets.ts";
import type { Database } from "../database.ts";

/** Where upstream keys are stored: table, ID column and key column. */
const PLACES = [
  ["providers", "id", "api_key_sealed"],
  ["models", "id", "api_key_sealed"],
  ["mcp_servers", "id", "api_key_sealed"],
  ["usage_import_settings", "provider_id", "api_key_sealed"],
  ["web_search_providers", "id", "api_key_sealed"],
  ["webhooks", "id", "endpoint_sealed"],
  ["identity_providers", "id", "client_secret_sealed"],
  ["knowledge_connectors", "id", "credential_sealed"],
] as const;
/** Keys tried per table: enough to tell whether this is the key they were sealed with, however many there are. */
const MAX_TRIED = 1_000;

/**
 * Tries to open the newest stored upstream keys. Returns how many were tried and the records that `secrets` cannot open; without `secrets`,
 * that is all of them.
 */
export async function openStoredKeys(
  db: Database,
  secrets: SecretBox | null,
): Promise<{ readonly checked: number; readonly unreadable: readonly string[] }> {
  let checked = 0;
  const unreadable: string[] = [];
  for (const [table, named, column] of PLACES) {
    const { rows } = await sql<{ id: string; sealed: string }>`
      SELECT ${sql.ref(named)}::text AS id, ${sql.ref(column)} AS sealed FROM ${sql.table(table)}
       WHERE ${sql.ref(column)} IS NOT NULL ORDER BY updated_at DESC LIMIT ${MAX_TRIED}`.execute(db);
    checked += rows.length;
    for (const { id, sealed } of rows)
      if (secrets === null || secrets.openOrNull(sealed, sealContext(table, id)) === null) unreadable.push(`${table} ${id}`);
  }
  return { checked: checked, unreadable };
}

/** The number of enabled imports, and the providers among them without an account key: these fail until one is stored. */
export async function importsWithoutKey(db: Database): Promise<{ readonly enabled: number; readonly keyless: readonly string[] }> {
  const { rows } = await sql<{ provider_id: string; keyed: boolean }>`
    SELECT provider_id::text, api_key_sealed IS NOT NULL AS keyed FROM usage_import_settings WHERE import_enabled ORDER BY 1`.execute(db);
  return { enabled: rows.length, keyless: rows.flatMap(({ provider_id: id, keyed }) => (keyed ? [] : [id])) };
}

import { sealContext, type SecretBox } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import { usageImportSettings } from "../../store/usage/usage-import.ts";

/** The account's key, decrypted; null if there is none that can be decrypted. */
export async function readImportKey(db: Database, secrets: SecretBox, tenantId: string, providerId: string): Promise<string | null> {
  const row = (await usageImportSettings(db, tenantId, [providerId])).get(providerId);
  return secrets.openOrNull(row?.api_key_sealed ?? null, sealContext("usage_import_settings", providerId));
}

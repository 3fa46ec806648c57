import { sealContext, type SecretBox } from "../kernel/secrets.ts";
import type { Database } from "./database.ts";

const TABLES = ["providers", "models", "mcp_servers"] as const;
/** Of each table: enough to tell whether the key is the one they were sealed under, however many there are. */
const LOOKED_AT = 1_000;

/** How many of the newest stored upstream keys were looked at, and the records of those `secrets` does not open. */
export async function openStoredKeys(
  db: Database,
  secrets: SecretBox,
): Promise<{ readonly looked: number; readonly unreadable: readonly string[] }> {
  let looked = 0;
  const unreadable: string[] = [];
  for (const table of TABLES) {
    const rows = await db
      .selectFrom(table)
      .select(["id", "api_key_sealed"])
      .where("api_key_sealed", "is not", null)
      .orderBy("updated_at", "desc")
      .limit(LOOKED_AT)
      .execute();
    looked += rows.length;
    for (const row of rows)
      if (secrets.openOrNull(row.api_key_sealed, sealContext(table, row.id)) === null) unreadable.push(`${table} ${row.id}`);
  }
  return { looked, unreadable };
}

import { sql } from "kysely";
import type { Database } from "../database.ts";

/** What a runtime process must reload. `ref` names the record if reloading less than the tenant is possible. */
export type ChangeTopic = "tenant" | "policy" | "api_key" | "end_user" | "oauth_tokens" | "identity_provider";

export interface ConfigChange {
  readonly version: number;
  readonly tenant_id: string;
  readonly topic: ChangeTopic;
  readonly ref: string | null;
  readonly at: Date;
}

export const CHANGE_CHANNEL = "gatehouse_config";

export async function latestVersion(db: Database): Promise<number> {
  const row = await db.selectFrom("config_version").select("version").executeTakeFirst();
  return row?.version ?? 0;
}

export const CHANGES_AT_ONCE = 1_000;

/** Changes after `version`, oldest first; at most `CHANGES_AT_ONCE`. */
export async function changesAfter(db: Database, version: number): Promise<ConfigChange[]> {
  const rows = await db
    .selectFrom("config_changes")
    .select(["version", "tenant_id", "topic", "ref", "at"])
    .where("version", ">", version)
    .orderBy("version")
    .limit(CHANGES_AT_ONCE)
    .execute();
  return rows as ConfigChange[];
}

/** Deletes changes older than a day: every live process has applied them, and one that was down starts from the tables. */
export async function pruneChanges(db: Database): Promise<void> {
  await db
    .deleteFrom("config_changes")
    .where("at", "<", sql<Date>`now() - interval '1 day'`)
    .execute();
}

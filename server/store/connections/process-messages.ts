import { sql } from "kysely";
import type { Database } from "../database.ts";

export async function writeProcessMessage(db: Database, recipient: string, body: string): Promise<void> {
  await db.insertInto("tool_letters").values({ recipient, body }).execute();
}

/** Takes all messages for these recipients, oldest first. */
export async function takeProcessMessages(db: Database, recipients: readonly string[]): Promise<{ recipient: string; body: string }[]> {
  if (recipients.length === 0) return [];
  const taken = await db.deleteFrom("tool_letters").where("recipient", "in", recipients).returning(["id", "recipient", "body"]).execute();
  return taken.sort((a, b) => a.id - b.id);
}

/** Deletes messages that nobody took. */
export async function pruneProcessMessages(db: Database): Promise<void> {
  await db
    .deleteFrom("tool_letters")
    .where("created_at", "<=", sql<Date>`now() - interval '15 minutes'`)
    .execute();
}

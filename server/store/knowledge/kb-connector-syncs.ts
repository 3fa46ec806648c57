import { sql } from "kysely";
import type { Database } from "../database.ts";
import type { KbConnectorRow } from "./kb-connectors.ts";

/** Leases a due connector for `leaseMs`, skipping these tenants; null if there is none. */
export async function takeUpConnector(db: Database, leaseMs: number, except: readonly string[]): Promise<KbConnectorRow | null> {
  const { rows } = await sql<KbConnectorRow>`
    UPDATE knowledge_connectors SET due_at = now() + ${leaseMs} * interval '1 millisecond'
     WHERE id = (SELECT id FROM knowledge_connectors WHERE enabled AND due_at <= now() AND tenant_id <> ALL(${except as string[]}::text[]) ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING *`.execute(db);
  return rows[0] ?? null;
}

export async function releaseConnector(db: Database, id: string): Promise<void> {
  await sql`UPDATE knowledge_connectors SET due_at = now() WHERE id = ${id}`.execute(db);
}

/** Ends a sync. The connector runs again at once if it was requested or changed in the meantime, otherwise not for `waitMs`. */
export async function noteSynced(
  db: Database,
  { id, every_minutes: minutes }: Pick<KbConnectorRow, "id" | "every_minutes">,
  problem: string | null,
  skipped: readonly string[],
  waitMs: number,
): Promise<void> {
  await sql`UPDATE knowledge_connectors SET due_at = CASE WHEN due_at > now() THEN now() + greatest(${minutes} * interval '1 minute', ${waitMs} * interval '1 millisecond') ELSE due_at END, problem = ${problem},
      skipped = ${JSON.stringify(skipped)}::jsonb, synced_at = CASE WHEN ${problem === null} THEN now() ELSE synced_at END
    WHERE id = ${id}`.execute(db);
}

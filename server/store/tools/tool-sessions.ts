import { sql } from "kysely";
import type { Database } from "../database.ts";

/** The channel on which processes tell each other what cannot wait for the next request. */
export const TOOL_CHANNEL = "gatehouse_tools";

/** A session, by its digest. */
export interface SessionRef {
  readonly tenantId: string;
  readonly session: string;
}

export interface ToolSessionRow {
  readonly uris: readonly string[];
  readonly log_level: string | null;
  readonly version: number;
  /** Whether its caller ended it. */
  readonly ended: boolean;
}

/** What is recorded of a session, which is kept because it is in use; undefined if nothing is. */
export async function touchSession(db: Database, { tenantId, session }: SessionRef): Promise<ToolSessionRow | undefined> {
  const { rows } =
    await sql<ToolSessionRow>`UPDATE tool_sessions SET used_at = now() WHERE tenant_id = ${tenantId} AND session = ${session} RETURNING uris, log_level, version, ended`.execute(
      db,
    );
  return rows[0];
}

/** Deletes sessions that nobody has used for a week. */
export async function forgetSessions(db: Database): Promise<void> {
  await sql`DELETE FROM tool_sessions WHERE used_at <= now() - interval '7 days'`.execute(db);
}

/** Notifies every process of a cancelled request, by its mark. */
export async function tellCancelled(db: Database, mark: string): Promise<void> {
  await sql`SELECT pg_notify(${TOOL_CHANNEL}, ${JSON.stringify({ cancelled: mark })})`.execute(db);
}

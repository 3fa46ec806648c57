import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";
import { type SessionRef, type ToolSessionRow, TOOL_CHANNEL } from "./tool-sessions.ts";

/** Undefined if the session already has `most` other subscriptions. */
export function addSubscription(
  db: Database,
  { tenantId, session }: SessionRef,
  uri: string,
  most: number,
): Promise<ToolSessionRow | undefined> {
  return withChanges(
    db,
    { tenantId, session },
    sql`INSERT INTO tool_sessions AS s (tenant_id, session, uris) VALUES (${tenantId}, ${session}, ARRAY[${uri}])
        ON CONFLICT (tenant_id, session) DO UPDATE
          SET uris = CASE WHEN ${uri} = ANY(s.uris) THEN s.uris ELSE array_append(s.uris, ${uri}) END, version = nextval('tool_sessions_version'), used_at = now()
          WHERE ${uri} = ANY(s.uris) OR cardinality(s.uris) < ${most}`,
  );
}

/** Undefined if nothing is recorded of the session. */
export function removeSubscription(db: Database, { tenantId, session }: SessionRef, uri: string): Promise<ToolSessionRow | undefined> {
  return withChanges(
    db,
    { tenantId, session },
    sql`UPDATE tool_sessions SET uris = array_remove(uris, ${uri}), version = nextval('tool_sessions_version'), used_at = now() WHERE tenant_id = ${tenantId} AND session = ${session}`,
  );
}

export function setLogLevel(db: Database, { tenantId, session }: SessionRef, level: string): Promise<ToolSessionRow | undefined> {
  return withChanges(
    db,
    { tenantId, session },
    sql`INSERT INTO tool_sessions (tenant_id, session, log_level) VALUES (${tenantId}, ${session}, ${level})
        ON CONFLICT (tenant_id, session) DO UPDATE SET log_level = ${level}, version = nextval('tool_sessions_version'), used_at = now()`,
  );
}

/** Ends the session and everything recorded of it. */
export function markSessionEnded(db: Database, { tenantId, session }: SessionRef): Promise<ToolSessionRow | undefined> {
  return withChanges(
    db,
    { tenantId, session },
    sql`INSERT INTO tool_sessions (tenant_id, session, ended) VALUES (${tenantId}, ${session}, true)
        ON CONFLICT (tenant_id, session) DO UPDATE SET uris = '{}', log_level = NULL, ended = true, version = nextval('tool_sessions_version'), used_at = now()`,
  );
}

/** Runs the write and notifies every process in the same statement. */
async function withChanges(db: Database, ref: SessionRef, write: RawBuilder<unknown>): Promise<ToolSessionRow | undefined> {
  const { rows } = await sql<ToolSessionRow>`
    WITH noted AS (${write} RETURNING uris, log_level, version, ended)
    SELECT uris, log_level, version, ended, pg_notify(${TOOL_CHANNEL}, json_build_object('session', ${ref.session}::text, 'version', version, 'level', log_level, 'ended', ended)::text) FROM noted`.execute(
    db,
  );
  return rows[0];
}

import { sql, type Insertable, type Selectable } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { NoticeConfigTable } from "../tables/people.ts";

export type NoticeConfigRow = Selectable<NoticeConfigTable>;

/** The tenant's own configuration, and that of the system if one is named. */
export async function noticeConfigs(db: Database | Trx, tenantId: string, systemId: string | null): Promise<NoticeConfigRow[]> {
  return db
    .selectFrom("notice_configs")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where((eb) =>
      systemId === null ? eb("ai_system_id", "is", null) : eb.or([eb("ai_system_id", "is", null), eb("ai_system_id", "=", systemId)]),
    )
    .execute();
}

export async function putNoticeConfig(trx: Trx, values: Insertable<NoticeConfigTable>): Promise<void> {
  const { id: _id, tenant_id: _tenant, ai_system_id: _system, ...changed } = values;
  await trx
    .insertInto("notice_configs")
    .values(values)
    .onConflict((conflict) => conflict.columns(["tenant_id", "ai_system_id"]).doUpdateSet(changed))
    .execute();
}

/** The removed configuration; undefined if there was none. */
export async function removeNoticeConfig(trx: Trx, tenantId: string, systemId: string | null): Promise<NoticeConfigRow | undefined> {
  return trx
    .deleteFrom("notice_configs")
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", systemId === null ? "is" : "=", systemId)
    .returningAll()
    .executeTakeFirst();
}

export interface ConversationNotice {
  readonly method: string;
  readonly record_id: string;
  readonly noticed_at: Date;
}

/** Earliest first. */
export async function noticesOfConversation(db: Database, tenantId: string, handle: string): Promise<ConversationNotice[]> {
  return db
    .selectFrom("conversation_notices")
    .select(["method", "record_id", "noticed_at"])
    .where("tenant_id", "=", tenantId)
    .where("conversation_handle", "=", handle)
    .orderBy("noticed_at")
    .orderBy("record_id")
    .execute();
}

/** Keeps the first notice of each conversation and method. */
export async function addConversationNotice(
  db: Database,
  notice: { tenant_id: string; conversation_handle: string; method: string; record_id: string; noticed_at: Date },
): Promise<void> {
  await db
    .insertInto("conversation_notices")
    .values(notice)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deletes notices from before that time, whose records are reduced as well. Returns how many. */
export async function forgetConversationNotices(db: Database, tenantId: string, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom("conversation_notices")
    .where("tenant_id", "=", tenantId)
    .where("noticed_at", "<", before)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Subtypes of calls that a model answers. Looking up models or counting tokens shows the user nothing yet. */
const TURNS = [
  "chat_completions",
  "responses",
  "completions",
  "anthropic_messages",
  "gemini_generate_content",
  "gemini_stream_generate_content",
];

export interface StatementRow {
  readonly handle: string;
  readonly met: boolean;
}

/**
 * Each conversation whose first assistant turn is in the window, and whether a notice was recorded before that turn: earlier in time, and
 * also in the log if the same writer wrote both. Different writers have no common order except time. Reads the rows once for all
 * conversations and for both kinds of rows, and sorts those of each conversation with its turns first.
 */
export async function noticeBeforeFirstTurn(
  db: Database,
  tenantId: string,
  window: { from: string | null; to: string | null; systemId: string | null },
): Promise<StatementRow[]> {
  const { rows } = await sql<StatementRow>`
    SELECT handle, coalesce(bool_or(proxy_type = 'portal' AND timestamp < turn_at AND (chain_id <> turn_chain_id OR chain_seq < turn_seq)), false) AS met
      FROM (
        SELECT handle, proxy_type, timestamp, chain_id, chain_seq,
               first_value(proxy_type) OVER conversation AS earliest, first_value(timestamp) OVER conversation AS turn_at,
               first_value(chain_id) OVER conversation AS turn_chain_id, first_value(chain_seq) OVER conversation AS turn_seq,
               first_value(resource_group_id) OVER conversation AS system_id
          FROM (
            SELECT custom_metadata->>'conversation_handle' AS handle, proxy_type, timestamp, chain_id, chain_seq, resource_group_id, id
              FROM audit_rows
             WHERE tenant_id = ${tenantId} AND custom_metadata->>'conversation_handle' IS NOT NULL
               AND ((proxy_type = 'llm' AND proxy_subtype = ANY(${TURNS}) AND http_status_code < 400)
                 OR (proxy_type = 'portal' AND proxy_subtype = 'notice' AND success AND custom_metadata->'action_record' IS NOT NULL))) said
        WINDOW conversation AS (PARTITION BY handle ORDER BY proxy_type = 'portal', timestamp, id)) said
     WHERE earliest = 'llm'
       AND (${window.from}::timestamptz IS NULL OR turn_at >= ${window.from}::timestamptz)
       AND (${window.to}::timestamptz IS NULL OR turn_at < ${window.to}::timestamptz)
       AND (${window.systemId}::text IS NULL OR system_id = ${window.systemId}::text)
     GROUP BY handle ORDER BY handle`.execute(db);
  return rows;
}

/** Counts a person's post and returns whether it is within `most` per `withinMs`, across all processes. */
export async function countNoticePost(
  db: Database,
  { tenantId, userId, most, withinMs }: { tenantId: string; userId: string; most: number; withinMs: number },
): Promise<boolean> {
  const recent = sql`ARRAY(SELECT at FROM unnest(notice_posts.posted_at) AS at WHERE at > now() - ${withinMs} * interval '1 millisecond')`;
  const { rows } = await sql`
    INSERT INTO notice_posts (end_user_id, tenant_id, posted_at) VALUES (${userId}, ${tenantId}, ARRAY[now()])
    ON CONFLICT (end_user_id) DO UPDATE SET posted_at = ${recent} || now() WHERE cardinality(${recent}) < ${most}
    RETURNING end_user_id`.execute(db);
  return rows.length > 0;
}

import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Database } from "../../store/database.ts";
import { addConversationNotice, countNoticePost, noticesOfConversation } from "../../store/people/notices.ts";
import { BoundedMap } from "../bounded-map.ts";

interface Known {
  /** Record IDs by method, earliest first. */
  readonly records: ReadonlyMap<string, string>;
  /** When the entry must be read again, because another process may have recorded more. */
  readonly until: number;
}

/** Notice POSTs per user and minute (interface 8.7). */
const A_MINUTE = { most: 30, withinMs: 60_000 };
const REMEMBERED = 100_000;
/** How soon a conversation without a notice is read again. One with a notice is never, because its earliest notice cannot change. */
const UNNOTICED_FOR_MS = 2_000;

/** The notice records of conversations, cached in memory after the first read. */
export class ConversationNotices {
  private readonly known = new BoundedMap<string, Known>(REMEMBERED);
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly log: Log;

  constructor(db: Database, clock: Clock, log: Log) {
    this.db = db;
    this.clock = clock;
    this.log = log;
  }

  /** The conversation's record IDs by method, earliest first; if the database is unreachable, those already known. */
  of(tenantId: string, handle: string): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>> {
    const key = `${tenantId}/${handle}`;
    const known = this.known.get(key);
    return known !== undefined && known.until > this.clock.now() ? known.records : this.read(tenantId, handle, key);
  }

  /** Counts a user's POST. Returns false beyond the user's limit, which applies across all processes. */
  countPost(tenantId: string, userId: string): Promise<boolean> {
    return countNoticePost(this.db, { tenantId, userId, ...A_MINUTE });
  }

  /** Must be called once the record is sealed. */
  sealed(tenantId: string, notice: { handle: string; method: string; recordId: string; at: Date }): void {
    const key = `${tenantId}/${notice.handle}`;
    const records = new Map(this.known.get(key)?.records);
    if (!records.has(notice.method)) records.set(notice.method, notice.recordId);
    this.known.set(key, { records, until: Number.POSITIVE_INFINITY });
    addConversationNotice(this.db, {
      tenant_id: tenantId,
      conversation_handle: notice.handle,
      method: notice.method,
      record_id: notice.recordId,
      noticed_at: notice.at,
    }).catch((error: Error) => this.log.warn("notice_not_indexed", { tenant_id: tenantId, record_id: notice.recordId, error }));
  }

  private async read(tenantId: string, handle: string, key: string): Promise<ReadonlyMap<string, string>> {
    try {
      const rows = await noticesOfConversation(this.db, tenantId, handle);
      const records = new Map(rows.map((row) => [row.method, row.record_id]));
      // A record sealed during the read is newer than its result.
      const now = this.known.get(key);
      if (now?.until === Number.POSITIVE_INFINITY) return now.records;
      this.known.set(key, { records, until: records.size > 0 ? Number.POSITIVE_INFINITY : this.clock.now() + UNNOTICED_FOR_MS });
      return records;
    } catch (error) {
      this.log.warn("notices_not_read", { error: error as Error });
      return this.known.get(key)?.records ?? new Map();
    }
  }
}

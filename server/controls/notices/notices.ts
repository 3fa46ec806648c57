import { ACTION_RECORD_SCHEMA, actionRecordDigest, type ActionRecord } from "@gatehouse/ledger-format/action-record";
import type { NoticePost } from "@gatehouse/contracts/notices";
import type { ConversationNotices } from "../../directory/notices/conversation-notices.ts";
import { effectiveNoticeConfig, isKnownText, isSystem } from "../../directory/notices/notice-configs.ts";
import { invalidFields, type Refusal, refuse } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import type { Call } from "../../road/call.ts";

export interface NoticesParts {
  readonly conversations: ConversationNotices;
  readonly db: Parameters<typeof effectiveNoticeConfig>[0]["db"];
}

/** Records that people were told they are talking to an AI system, sealed before they do so (interface 6.3). */
export class Notices {
  private readonly parts: NoticesParts;
  /** By conversation and method; a page that mounts its notice twice posts it twice at once. */
  private readonly beingSealed = new Map<string, Promise<void>>();

  constructor(parts: NoticesParts) {
    this.parts = parts;
  }

  /**
   * Puts the record on the call's row, which seals it; the answer is sent only once it is stored. Idempotent per
   * conversation and method: a repeated POST, even a concurrent one, gets the first record's ID.
   */
  async record(call: Call, post: NoticePost): Promise<{ record_id: string } | Refusal> {
    const { user, tenant } = call;
    if (user === null || tenant === null) return refuse("unauthenticated");
    const { db, conversations } = this.parts;
    if (!(await conversations.countPost(tenant.id, user.id)))
      return refuse("rate_limited", undefined, { headers: { "retry-after": "60" } });
    if (post.ai_system_id != null && !(await isSystem(db, tenant.id, post.ai_system_id)))
      throw invalidFields("invalid_notice", [{ field: "ai_system_id", message: "names no AI system of this tenant" }]);
    const config = await effectiveNoticeConfig(this.parts, tenant.id, post.ai_system_id ?? null);
    if (!config.enabled) return refuse("evidence_disabled");
    const key = `${tenant.id}/${post.conversation_handle}/${post.method}`;
    for (;;) {
      const before = (await this.parts.conversations.of(tenant.id, post.conversation_handle)).get(post.method);
      if (before !== undefined) return { record_id: before };
      const other = this.beingSealed.get(key);
      if (other === undefined) break;
      await other;
    }
    const record = recordOf(call, tenant.id, post, isKnownText(config, post.text_sha256));
    call.row.request_content_hash = actionRecordDigest(record);
    call.row.custom_metadata = { conversation_handle: post.conversation_handle, action_record: record };
    const ended = Promise.withResolvers<void>();
    this.beingSealed.set(key, ended.promise);
    call.whenEnded.push((errorType) => {
      if (errorType === null)
        this.parts.conversations.sealed(tenant.id, {
          handle: post.conversation_handle,
          method: post.method,
          recordId: record.record_id,
          at: new Date(record.timestamp),
        });
      this.beingSealed.delete(key);
      ended.resolve();
    });
    return { record_id: record.record_id };
  }

  /** Records on a model call which notice of its conversation it follows. Asynchronous only for a conversation new to this process. */
  refer(call: Call): Promise<void> | null {
    const handle = (call.row.custom_metadata as { conversation_handle?: string } | null | undefined)?.conversation_handle;
    if (handle === undefined || call.tenant === null || call.user === null) return null;
    const found = this.parts.conversations.of(call.tenant.id, handle);
    if (found instanceof Promise) return found.then((records) => note(call, records));
    note(call, found);
    return null;
  }
}

function note(call: Call, records: ReadonlyMap<string, string>): void {
  const [earliest] = records.values();
  if (earliest !== undefined)
    call.row.custom_metadata = {
      ...(call.row.custom_metadata as object),
      references: [{ type: "ai.gw.notice", record_id: earliest, purpose: "responds_to" }],
    };
}

function recordOf(call: Call, tenantId: string, post: NoticePost, known: boolean): ActionRecord {
  return {
    schema: ACTION_RECORD_SCHEMA,
    action_id: ulid(),
    kind: "fyi",
    verdict: "recorded",
    operator: tenantId,
    system: { ai_system_id: post.ai_system_id ?? null, contract_version: null, contract_hash: null },
    timestamp: call.row.timestamp as string,
    controls: [{ id: "notice.text_known", result: known ? "pass" : "fail", blocking: false, kind: "check" }],
    context: {
      record_type: "ai.gw.notice",
      surface: "portal",
      conversation_handle: post.conversation_handle,
      locale: post.locale,
      method: post.method,
    },
    references: [{ type: "ai.gw.notice-text", digest_alg: "SHA-256", digest: post.text_sha256, purpose: "rendered_text" }],
    record_id: call.id,
  };
}

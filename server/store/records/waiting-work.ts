import { IS_LEFT_ALONE } from "../agents/agent-pushes.ts";
import type { Database } from "../database.ts";
import { poolOf } from "../database.ts";
import { prepared } from "../connections/prepared.ts";

/**
 * Rows exist whenever the job may have work, now or in a moment. Jobs that go by the gateway's clock get a minute's margin, because the
 * database's clock may be behind.
 */
const WAITING = {
  deliver_agent_notifications: "SELECT FROM agent_push_deliveries",
  deliver_webhooks: "SELECT FROM webhook_deliveries WHERE due_at <= now()",
  import_usage: `SELECT FROM usage_import_settings WHERE import_enabled AND next_run_at <= now() + interval '1 minute'
    UNION ALL SELECT FROM usage_import_runs WHERE finished_at IS NULL`,
  index_documents: "SELECT FROM knowledge_documents WHERE status IN ('queued', 'processing') AND due_at <= now()",
  meter_responses: "SELECT FROM stored_responses WHERE look_at IS NOT NULL",
  remove_file_bytes: "SELECT FROM blobs_to_remove WHERE due_at <= now()",
  run_batches: "SELECT FROM batch_jobs WHERE ended_at IS NULL",
  run_provider_batches: "SELECT FROM batch_jobs WHERE ended_at IS NULL",
  run_replays: "SELECT FROM replay_runs WHERE state IN ('queued', 'running')",
  run_videos: "SELECT FROM video_jobs WHERE settled_at IS NULL",
  sync_knowledge: "SELECT FROM knowledge_connectors WHERE enabled AND due_at <= now()",
  tell_agent_costs: "SELECT FROM agent_tasks WHERE cost_due_at < now() UNION ALL SELECT FROM agent_cost_claims WHERE look_at < now()",
  watch_agent_tasks: `SELECT FROM agent_push_configs UNION ALL SELECT FROM agent_tasks WHERE ${IS_LEFT_ALONE}`,
  watch_drift: "SELECT FROM ai_systems WHERE lifecycle_state <> 'retired'",
} as const;

export type WorkKind = keyof typeof WAITING;

const kinds = Object.keys(WAITING) as WorkKind[];
const STATEMENT = `SELECT ${kinds.map((kind) => `EXISTS (${WAITING[kind]}) AS ${kind}`).join(", ")}`;

export const isWorkKind = (name: string): name is WorkKind => Object.hasOwn(WAITING, name);

/** Which jobs may have work, in one query. */
export async function waitingWork(db: Database): Promise<Readonly<Record<WorkKind, boolean>>> {
  const { rows } = await poolOf(db).query(prepared(STATEMENT, []));
  return rows[0];
}

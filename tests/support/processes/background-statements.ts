/**
 * SQL statements of background work: following configuration, shipping the ledger, listening for erasures, and periodic workers. Reads of
 * keys, policies, models or servers by a call do not match.
 */
export const BACKGROUND_STATEMENTS = new RegExp(
  [
    "config_changes|config_version",
    "audit_|usage_hourly|tool_results_hourly",
    "admin_log_(?:head|checkpoints)",
    "count\\(\\*\\) AS total FROM data_erasures",
    "^UPDATE approvals SET status = 'expired'",
    "^\\s*UPDATE runs\\b",
    "^UPDATE api_keys k SET last_used_at",
    "^UPDATE alerts SET resolved",
    "^DELETE FROM semantic_cache_entries",
    "^\\s*DELETE FROM held_answers",
    "agent_push_deliveries|^\\s*UPDATE agent_tasks t SET watched_until|^DELETE FROM agent_",
    'blobs_to_remove|file_directories|^\\s*DELETE FROM files f|^update "files" set "deleted_at" = \\$1 where "deleted_at" is null and',
    'from "agents" where "enabled" = .* and \\("health_checked_at"|^\\s*UPDATE agents SET health_checked_at',
    '^delete from "resumable_uploads" where "expires_at"',
    "batch_jobs|batch_runners|batch_departures|batch_submissions",
    "video_jobs|video_runners",
    "^\\s*WITH due AS MATERIALIZED|^\\s*DELETE FROM stored_responses",
    "usage_import_",
    "^\\s*UPDATE knowledge_documents d",
    "kb_signs_|HAVING sum\\(d.chunk_count\\)",
    "^\\s*UPDATE knowledge_connectors",
    "replay_runs",
    'from "ai_systems" where "lifecycle_state" <>',
    "^\\s*(?:begin|commit|rollback|set )",
  ].join("|"),
  "i",
);

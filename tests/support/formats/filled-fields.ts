import { appendFileSync } from "node:fs";
import { FIELD_NAMES, type FieldName } from "@gatehouse/ledger-format/fields";
import { sql } from "kysely";
import type { Database } from "../../../server/store/database.ts";

/** Kinds of calls on the reference page of the row, with the condition that selects their rows. */
const SURFACES = {
  "chat completions": "proxy_subtype = 'chat_completions'",
  responses: "proxy_subtype = 'responses'",
  completions: "proxy_subtype = 'completions'",
  messages: "proxy_subtype = 'anthropic_messages'",
  Gemini: "proxy_subtype IN ('gemini_generate_content', 'gemini_stream_generate_content')",
  "embeddings and reranking": "proxy_subtype IN ('embeddings', 'rerank')",
  pictures: "proxy_subtype LIKE 'image\\_%'",
  speech: "proxy_subtype = 'audio_speech'",
  transcription: "proxy_subtype IN ('audio_transcriptions', 'audio_translations')",
  video: "proxy_subtype LIKE 'video%'",
  moderations: "proxy_subtype = 'moderations'",
  files: "proxy_subtype LIKE 'file\\_%'",
  "lists and counts of models": "proxy_subtype ~ '(models_list|model_detail|count_tokens)$'",
  "tool servers": "proxy_type = 'mcp'",
  "virtual tool servers": "proxy_type = 'virtual_mcp'",
  skills: "proxy_type = 'skill'",
  agents: "proxy_type = 'a2a'",
  batches: "proxy_type = 'batch'",
  OAuth: "proxy_type = 'oauth'",
  portal: "proxy_type = 'portal'",
  "discovery events": "proxy_subtype = 'discovery_events'",
  runs: "proxy_subtype IN ('run_inspect', 'run_end')",
  "trace inlet": "proxy_subtype = 'otel_traces'",
  spans: "source = 'otel'",
  "calls of the gateway's own": "parent_request_id IS NOT NULL AND proxy_type <> 'batch'",
  strangers: "proxy_subtype = 'strangers' OR (error_type LIKE 'credential\\_%' AND api_key_id IS NULL AND gateway_user_id IS NULL)",
} as const;

export type SurfaceName = keyof typeof SURFACES;

export const SURFACE_NAMES = Object.keys(SURFACES) as SurfaceName[];

/** The fields that are filled in rows of each kind of call. A row counts for the last kind it matches. */
export async function filledFields(db: Database): Promise<Map<SurfaceName, Set<FieldName>>> {
  const kinds = Object.entries(SURFACES)
    .toReversed()
    .map(([name, rows]) => `WHEN ${rows} THEN '${name.replaceAll("'", "''")}'`)
    .join(" ");
  const filled = FIELD_NAMES.map((name) => `bool_or(${name} IS NOT NULL) AS ${name}`).join(", ");
  const { rows } = await sql
    .raw<Record<string, unknown>>(
      `SELECT kind, ${filled} FROM (SELECT CASE ${kinds} END AS kind, * FROM audit_rows) AS kinds WHERE kind IS NOT NULL GROUP BY kind`,
    )
    .execute(db);
  return new Map(rows.map((row) => [row.kind as SurfaceName, new Set(FIELD_NAMES.filter((name) => row[name] === true))]));
}

/** If FILLED_FIELDS names a file, adds the fields filled in the test's rows to it; `npm run docs` builds the page from that. */
export async function collectFilledFields(db: Database, file = process.env["FILLED_FIELDS"]): Promise<void> {
  if (file === undefined) return;
  for (const [surface, fields] of await filledFields(db)) appendFileSync(file, `${JSON.stringify({ surface, fields: [...fields] })}\n`);
}

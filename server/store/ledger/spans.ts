import { sql } from "kysely";
import type { Database } from "../database.ts";

/** A row that has the trace and span id of a span, or only its trace id. */
export interface TracedRow {
  readonly id: string;
  readonly trace_id: string;
  readonly span_id: string | null;
  readonly source: string | null;
  readonly root_task_id: string | null;
  /** The API key or user whose call it is. */
  readonly credential_id: string | null;
}

/** Rows of the tenant at any of the (trace, span) pairs. */
export async function rowsOfSpans(
  db: Database,
  tenantId: string,
  traceIds: readonly string[],
  spanIds: readonly string[],
): Promise<TracedRow[]> {
  const { rows } = await sql<TracedRow>`
    SELECT a.id, a.trace_id, a.span_id, a.source, a.root_task_id, coalesce(a.api_key_id, a.gateway_user_id) AS credential_id
    FROM audit_rows a JOIN unnest(${traceIds}::text[], ${spanIds}::text[]) AS s (trace_id, span_id) ON a.trace_id = s.trace_id AND a.span_id = s.span_id
    WHERE a.tenant_id = ${tenantId} ORDER BY a.id`.execute(db);
  return rows;
}

/** The first of the gateway's own calls by a key in each of the traces. */
export async function firstCallsOfTraces(
  db: Database,
  tenantId: string,
  apiKeyId: string,
  traceIds: readonly string[],
): Promise<TracedRow[]> {
  const { rows } = await sql<TracedRow>`
    SELECT DISTINCT ON (trace_id) id, trace_id, span_id, source, root_task_id, coalesce(api_key_id, gateway_user_id) AS credential_id FROM audit_rows
    WHERE trace_id = ANY(${traceIds}) AND tenant_id = ${tenantId} AND coalesce(api_key_id, gateway_user_id) = ${apiKeyId} AND source = 'gateway' AND root_task_id IS NOT NULL
      AND coalesce(proxy_subtype, '') <> 'otel_traces'
    ORDER BY trace_id, id`.execute(db);
  return rows;
}

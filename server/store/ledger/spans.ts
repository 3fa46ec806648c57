import { sql } from "kysely";
import type { Database } from "../database.ts";

/** A row with the trace and span ID of a span, or only its trace ID. */
export interface TracedRow {
  readonly id: string;
  readonly trace_id: string;
  readonly span_id: string | null;
  readonly source: string | null;
  readonly root_task_id: string | null;
  /** The API key or user that made the call. */
  readonly credential_id: string | null;
}

/** The tenant's rows at any of the (trace, span) pairs. */
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

/** For each trace, the first call that the key made through the gateway. */
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

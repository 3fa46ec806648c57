import { sql } from "kysely";
import type { Database } from "../database.ts";

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** After this time a claim's row is in the database, or its process is gone. */
const CLAIM_LEASE = sql`interval '10 seconds'`;
const CLAIM_RETENTION = sql`interval '10 minutes'`;

const idsOf = (spans: readonly SpanIds[]) =>
  sql`unnest(${spans.map(({ traceId }) => traceId)}::text[], ${spans.map(({ spanId }) => spanId)}::text[]) AS s (trace_id, span_id)`;

/**
 * Claims spans for the owner and returns those that nobody else claimed recently. Rows are locked in key order, because two batches may
 * share spans.
 */
export async function claimSpans(db: Database, tenantId: string, owner: string, spans: readonly SpanIds[]): Promise<SpanIds[]> {
  const { rows } = await sql<SpanIds>`
    INSERT INTO span_claims AS c (tenant_id, trace_id, span_id, owner)
    SELECT ${tenantId}, trace_id, span_id, ${owner}::uuid FROM ${idsOf(spans)} GROUP BY trace_id, span_id ORDER BY trace_id, span_id
    ON CONFLICT (tenant_id, trace_id, span_id) DO UPDATE SET owner = excluded.owner, claimed_at = excluded.claimed_at
      WHERE c.owner = excluded.owner OR c.claimed_at < excluded.claimed_at - ${CLAIM_LEASE}
    RETURNING trace_id AS "traceId", span_id AS "spanId"`.execute(db);
  return rows;
}

/** Also locks in key order, so that it cannot deadlock with a concurrent claim of the same spans. */
export async function releaseSpans(db: Database, tenantId: string, owner: string, spans: readonly SpanIds[]): Promise<void> {
  await sql`
    WITH held AS (
      SELECT c.trace_id, c.span_id FROM span_claims c JOIN ${idsOf(spans)} USING (trace_id, span_id)
       WHERE c.tenant_id = ${tenantId} AND c.owner = ${owner}::uuid ORDER BY c.trace_id, c.span_id FOR UPDATE OF c)
    DELETE FROM span_claims c USING held
    WHERE c.tenant_id = ${tenantId} AND c.trace_id = held.trace_id AND c.span_id = held.span_id`.execute(db);
}

/** Skips claims that are being renewed. */
export async function pruneSpanClaims(db: Database): Promise<void> {
  await sql`
    DELETE FROM span_claims WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM span_claims WHERE claimed_at < now() - ${CLAIM_RETENTION} FOR UPDATE SKIP LOCKED))`.execute(db);
}

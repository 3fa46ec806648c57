import { sql } from "kysely";
import type { Database } from "../database.ts";

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** After so long the row of a claim is in the database, or its process is gone. */
const GOOD_FOR = sql`interval '10 seconds'`;
const KEPT = sql`interval '10 minutes'`;

const idsOf = (spans: readonly SpanIds[]) =>
  sql`unnest(${spans.map(({ traceId }) => traceId)}::text[], ${spans.map(({ spanId }) => spanId)}::text[]) AS s (trace_id, span_id)`;

/** Those of the spans that nobody else claimed of late, from now on the owner's. In the order of the key: two batches may share spans. */
export async function claimSpans(db: Database, tenantId: string, owner: string, spans: readonly SpanIds[]): Promise<SpanIds[]> {
  const { rows } = await sql<SpanIds>`
    INSERT INTO span_claims AS c (tenant_id, trace_id, span_id, owner)
    SELECT ${tenantId}, trace_id, span_id, ${owner}::uuid FROM ${idsOf(spans)} GROUP BY trace_id, span_id ORDER BY trace_id, span_id
    ON CONFLICT (tenant_id, trace_id, span_id) DO UPDATE SET owner = excluded.owner, claimed_at = excluded.claimed_at
      WHERE c.owner = excluded.owner OR c.claimed_at < excluded.claimed_at - ${GOOD_FOR}
    RETURNING trace_id AS "traceId", span_id AS "spanId"`.execute(db);
  return rows;
}

/** In the order of the key too: whoever claims some of them at the same moment waits for nothing that waits for it. */
export async function releaseSpans(db: Database, tenantId: string, owner: string, spans: readonly SpanIds[]): Promise<void> {
  await sql`
    WITH held AS (
      SELECT c.trace_id, c.span_id FROM span_claims c JOIN ${idsOf(spans)} USING (trace_id, span_id)
       WHERE c.tenant_id = ${tenantId} AND c.owner = ${owner}::uuid ORDER BY c.trace_id, c.span_id FOR UPDATE OF c)
    DELETE FROM span_claims c USING held
    WHERE c.tenant_id = ${tenantId} AND c.trace_id = held.trace_id AND c.span_id = held.span_id`.execute(db);
}

/** Leaves those that somebody claims just now. */
export async function pruneSpanClaims(db: Database): Promise<void> {
  await sql`
    DELETE FROM span_claims WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM span_claims WHERE claimed_at < now() - ${KEPT} FOR UPDATE SKIP LOCKED))`.execute(db);
}

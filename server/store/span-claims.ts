import { sql } from "kysely";
import type { Database } from "./database.ts";

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

export async function releaseSpans(db: Database, tenantId: string, owner: string, spans: readonly SpanIds[]): Promise<void> {
  await sql`
    DELETE FROM span_claims c USING ${idsOf(spans)}
    WHERE c.tenant_id = ${tenantId} AND c.trace_id = s.trace_id AND c.span_id = s.span_id AND c.owner = ${owner}::uuid`.execute(db);
}

export async function pruneSpanClaims(db: Database): Promise<void> {
  await sql`DELETE FROM span_claims WHERE claimed_at < now() - ${KEPT}`.execute(db);
}

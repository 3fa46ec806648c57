import type { Database } from "../../store/database.ts";
import { firstCallsOfTraces, rowsOfSpans } from "../../store/ledger/spans.ts";

/** What the ledger already knows of a batch of spans. Keys are `<trace id>/<span id>`, or the trace ID. */
export interface KnownSpans {
  /** Spans already recorded. */
  readonly reported: ReadonlySet<string>;
  /**
   * The row of the gateway call for a span, and the call's run if it was made with the same credential: a span never joins another
   * credential's run.
   */
  readonly gatewayCalls: ReadonlyMap<string, { readonly rowId: string; readonly rootTaskId: string | null }>;
  /** The run of each trace's calls. */
  readonly runs: ReadonlyMap<string, string>;
}

export async function knownSpans(
  db: Database,
  tenantId: string,
  apiKeyId: string,
  spans: readonly { readonly traceId: string; readonly spanId: string }[],
): Promise<KnownSpans> {
  const traceIds = spans.map((span) => span.traceId);
  const [rows, firsts] = await Promise.all([
    rowsOfSpans(
      db,
      tenantId,
      traceIds,
      spans.map((span) => span.spanId),
    ),
    firstCallsOfTraces(db, tenantId, apiKeyId, [...new Set(traceIds)]),
  ]);
  const seenIds = new Set<string>();
  const carried = new Map<string, { rowId: string; rootTaskId: string | null }>();
  for (const row of rows) {
    const key = `${row.trace_id}/${row.span_id}`;
    if (row.source === "otel") seenIds.add(key);
    else if (!carried.has(key)) carried.set(key, { rowId: row.id, rootTaskId: row.credential_id === apiKeyId ? row.root_task_id : null });
  }
  return { reported: seenIds, gatewayCalls: carried, runs: new Map(firsts.map((row) => [row.trace_id, row.root_task_id ?? ""])) };
}

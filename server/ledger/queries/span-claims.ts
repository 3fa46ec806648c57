import { uuid } from "../../kernel/ids.ts";
import type { Database } from "../../store/database.ts";
import { claimSpans, releaseSpans } from "../../store/ledger/span-claims.ts";

type Spans = readonly { readonly traceId: string; readonly spanId: string }[];

/** Keeps two processes from recording one span at the same moment. */
export interface SpanClaims {
  /** Keys (`<trace id>/<span id>`) of those that are this process's to record. */
  take(tenantId: string, spans: Spans): Promise<ReadonlySet<string>>;
  /** Leaves what was taken and not recorded to whoever is sent it next. */
  release(tenantId: string, spans: Spans): Promise<void>;
}

export function spanClaims(db: Database): SpanClaims {
  const owner = uuid();
  return {
    async take(tenantId, spans) {
      return new Set((await claimSpans(db, tenantId, owner, spans)).map(({ traceId, spanId }) => `${traceId}/${spanId}`));
    },
    release: (tenantId, spans) => releaseSpans(db, tenantId, owner, spans),
  };
}

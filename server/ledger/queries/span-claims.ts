import { uuid } from "../../kernel/ids.ts";
import type { Database } from "../../store/database.ts";
import { claimSpans, releaseSpans } from "../../store/ledger/span-claims.ts";

type Spans = readonly { readonly traceId: string; readonly spanId: string }[];

/** Ensures that no two processes record the same span. */
export interface SpanClaims {
  /** Claims spans; returns the keys (`<trace id>/<span id>`) of those this process must record. */
  take(tenantId: string, spans: Spans): Promise<ReadonlySet<string>>;
  /** Releases spans that were claimed but not recorded, for whoever receives them next. */
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

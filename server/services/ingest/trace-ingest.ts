import { BoundedMap } from "../../directory/bounded-map.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import type { CallLedger } from "../../ledger/ledger.ts";
import type { SpanClaims } from "../../ledger/queries/span-claims.ts";
import { knownSpans, type KnownSpans } from "../../ledger/queries/span-lookup.ts";
import type { Span } from "../../wire/otlp/traces.ts";
import type { Call } from "../../road/call.ts";
import { complianceTags } from "../../road/record/compliance-tags.ts";
import { rootTaskId } from "../../road/record/run.ts";
import { spanRow } from "./span-row.ts";

export interface TraceIngestParts {
  readonly db: Parameters<typeof knownSpans>[0];
  readonly claims: SpanClaims;
  readonly ledger: CallLedger;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  /** Waits until everything this gateway has recorded so far is in the database; false if it cannot be there soon. */
  readonly shipped: () => Promise<boolean>;
}

/** Records spans in the ledger, each as exactly one row, however often it is sent. */
export interface TraceIngest {
  /** Resolves when the rows of all spans are stored. A refusal may be retried with the same spans. */
  accept(call: Call, spans: readonly Span[]): Promise<{ readonly recorded: number } | Refusal>;
}

/** How many recently sealed spans are remembered, because they may not be in the database yet. */
const REMEMBERED = 100_000;

const keyOf = (span: Pick<Span, "traceId" | "spanId">): string => `${span.traceId}/${span.spanId}`;

export function traceIngest(parts: TraceIngestParts): TraceIngest {
  const recent = new BoundedMap<string, Promise<void>>(REMEMBERED);
  const again = () => refuse("ledger_unavailable", undefined, { headers: { "retry-after": "1" } });

  return {
    async accept(call, spans) {
      const { identity, scope } = call;
      if (identity === null || scope === null) return refuse("unauthenticated");
      if (!parts.ledger.accepting()) return again();
      // Rows of the gateway's own calls must be in the database to be joined.
      if (!(await parts.shipped())) return again();
      let claimed: ReadonlySet<string>;
      let known: KnownSpans;
      try {
        // Claimed before the query for recorded spans, so that one which another process recorded meanwhile is found.
        claimed = await parts.claims.take(identity.tenantId, spans);
        known = await knownSpans(parts.db, identity.tenantId, identity.credentialId, spans);
      } catch (error) {
        parts.log.warn("spans_not_taken", { call_id: call.id, error: error as Error });
        return again();
      }
      const carried = rowCarriedBy(spans, known);
      const stored: Promise<void>[] = [];
      let recorded = 0;
      let full = false;
      let isElsewhere = false;
      for (const span of spans) {
        const key = `${identity.tenantId}/${keyOf(span)}`;
        if (known.reported.has(keyOf(span))) continue;
        const knownSpan = recent.get(key);
        if (knownSpan !== undefined) {
          // Its row may still be on its way, from a request whose sender stopped waiting.
          stored.push(knownSpan);
          continue;
        }
        if (!claimed.has(keyOf(span))) {
          // Another process is recording it; the sender retries until that row is stored.
          isElsewhere = true;
          continue;
        }
        // Checked per span: nothing else needs space for so many rows. Spans recorded so far are skipped when the sender retries.
        full = !parts.ledger.accepting();
        if (full) break;
        const own = carried.get(keyOf(span)) ?? null;
        const row = spanRow(span, {
          id: ulid(parts.clock.now()),
          rootTaskId: own?.rootTaskId ?? known.runs.get(span.traceId) ?? rootTaskId(parts.secrets, identity, span.traceId),
          joinedRowId: own?.rowId ?? null,
          storeBodies: scope.tenant.storeBodies,
          sessionOf: (conversation) => parts.secrets.hmac("session", `${identity.tenantId}\n${identity.credentialId}\n${conversation}`),
        });
        Object.assign(row, {
          tenant_id: identity.tenantId,
          api_key_id: call.row.api_key_id,
          api_key_name: call.row.api_key_name,
          resource_group_id: scope.groupId,
          gateway_user_id: identity.userId,
          gateway_user_username: identity.username,
          subject_id: call.row.subject_id,
          subject_kind: call.row.subject_kind,
          client_ip: call.row.client_ip,
          user_agent: call.row.user_agent,
          correlation_id: call.row.correlation_id,
        });
        row.compliance_tags = complianceTags(row, call);
        const sealed = parts.ledger.seal(row).catch((error: unknown) => {
          recent.delete(key);
          throw error;
        });
        recent.set(key, sealed);
        stored.push(sealed);
        recorded++;
      }
      const results = await Promise.allSettled(stored);
      if (!full && !isElsewhere && results.every(({ status }) => status === "fulfilled")) return { recorded };
      const isLeft = (key: string) => claimed.has(key) && !known.reported.has(key) && !recent.has(`${identity.tenantId}/${key}`);
      const left = spans.filter((span) => isLeft(keyOf(span)));
      await parts.claims
        .release(identity.tenantId, left)
        .catch((error: unknown) => parts.log.warn("spans_not_released", { call_id: call.id, error: error as Error }));
      return again();
    },
  };
}

/**
 * The gateway's own call that each span describes: the call with the span's IDs, or the call of its child if both are client spans, such as
 * the HTTP span below a model call's span.
 */
export function rowCarriedBy(spans: readonly Span[], known: Pick<KnownSpans, "gatewayCalls">): KnownSpans["gatewayCalls"] {
  const carried = new Map(known.gatewayCalls);
  if (carried.size === 0) return carried;
  const spansByKey = new Map(spans.map((span) => [keyOf(span), span]));
  for (const span of spans) {
    const own = known.gatewayCalls.get(keyOf(span));
    if (own !== undefined && span.parentSpanId !== null && span.kind === CLIENT) {
      const parent = spansByKey.get(keyOf({ traceId: span.traceId, spanId: span.parentSpanId }));
      if (parent?.kind === CLIENT) carried.set(keyOf(parent), own);
    }
  }
  return carried;
}

/** OTLP's client span kind; two nested client spans are one call. */
const CLIENT = 3;

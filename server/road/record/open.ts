import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { type Clock, isoMicros } from "../../kernel/clock.ts";
import { ulid } from "../../kernel/ids.ts";
import { type NamedHeaders, RequestHeaders } from "../../kernel/http/request-headers.ts";
import { pathOf } from "../../kernel/http/request-path.ts";
import type { AuditClass, Call } from "../call.ts";
import { NO_TARGET } from "../target.ts";
import { recordablePath } from "./run-in-path.ts";

const PRINTABLE = /^[\x20-\x7e]{1,200}$/;
/** Version ff is invalid. Version 00 has exactly 55 characters; later versions may append more. */
const TRACEPARENT = /^(?!ff|00.{54})[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(?:-.*)?$/;

/** A header value claimed by the caller, if a row may store it: printable and at most 200 characters. Otherwise null. */
export function recordableClaim(headers: NamedHeaders, name: string): string | null {
  const value = headers.get(name);
  return value !== null && PRINTABLE.test(value) ? value : null;
}

/** What is known of a call before any check. The gateway also makes calls without an HTTP request. */
export interface Arrival {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
}

/** ID and time of a call that continues, possibly in another process, after its provider answered it in a batch. */
export interface ResumedCall {
  readonly id: string;
  readonly timestamp: string;
}

/** Creates the call and begins its row with what the request says, before the caller is known. */
export function openCall(
  { method, url, headers: given }: Arrival,
  ip: string,
  audit: AuditClass,
  clock: Clock,
  resumed?: ResumedCall,
): Call {
  const headers = new RequestHeaders(given);
  const micros = clock.micros();
  const id = resumed?.id ?? ulid(Math.floor(micros / 1000));
  const path = pathOf(url);
  const correlationId = recordableClaim(headers, "x-correlation-id") ?? id;
  const row: AuditRow = {
    id,
    timestamp: resumed?.timestamp ?? isoMicros(micros),
    proxy_type: audit.proxyType,
    proxy_subtype: audit.proxySubtype,
    http_method: method,
    endpoint: recordablePath(path),
    client_ip: ip === "" ? null : ip,
    user_agent: headers.get("user-agent")?.slice(0, 512) ?? null,
    correlation_id: correlationId,
    request_id: recordableClaim(headers, "x-request-id"),
    is_auth_event: false,
    source: "gateway",
  };
  const trace = headers.get("traceparent");
  if (trace !== null) {
    const parts = TRACEPARENT.exec(trace.toLowerCase());
    if (parts !== null && !/^0+$/.test(parts[1] as string) && !/^0+$/.test(parts[2] as string)) {
      row.trace_id = parts[1] as string;
      row.span_id = parts[2] as string;
    }
  }
  return {
    id,
    audit,
    method,
    url,
    headers,
    path,
    ip,
    arrivedAt: performance.now() - (resumed === undefined ? 0 : Math.max(0, micros / 1000 - Date.parse(resumed.timestamp))),
    abort: new AbortController(),
    row,
    answerHeaders: { "x-request-id": id, "x-correlation-id": correlationId },
    identity: null,
    user: null,
    token: null,
    tenant: null,
    scope: null,
    target: NO_TARGET,
    begun: false,
    attempts: [],
    beforeRecord: [],
    whenEnded: [],
    requestContent: null,
    notedContent: undefined,
    answerReusable: true,
    place: -1,
  };
}

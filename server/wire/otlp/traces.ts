import { isObject } from "../../kernel/json-value.ts";
import { type Attributes, attributesOf, textAttribute } from "./attributes.ts";

/** A decoded span: IDs in lower case, times in nanoseconds. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: number;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: Attributes;
  readonly resource: Attributes;
  readonly scope: string | null;
  /** 0 unset, 1 ok, 2 error. */
  readonly statusCode: number;
  readonly statusMessage: string | null;
  /** Type and message of an exception event; null if there is none. */
  readonly exception: { readonly type: string | null; readonly message: string | null } | null;
}

export interface DecodedTraces {
  readonly spans: Span[];
  /** The reasons for which invalid spans were dropped. */
  readonly rejected: string[];
}

const list = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];

/** Decodes an ExportTraceServiceRequest in JSON, ignoring unknown members; null if the body is not one. */
export function decodeTraces(body: unknown): DecodedTraces | null {
  if (!isObject(body)) return null;
  const { resourceSpans } = body as { resourceSpans?: unknown };
  if (resourceSpans !== undefined && !Array.isArray(resourceSpans)) return null;
  const spans: Span[] = [];
  const rejected: string[] = [];
  for (const one of list(resourceSpans)) {
    const resource = attributesOf((one.resource as { attributes?: unknown } | undefined)?.attributes);
    for (const scoped of list(one.scopeSpans)) {
      const name = (scoped.scope as { name?: unknown } | undefined)?.name;
      for (const raw of list(scoped.spans)) {
        const span = spanOf(raw, resource, typeof name === "string" ? name : null);
        if (typeof span === "string") rejected.push(span);
        else spans.push(span);
      }
    }
  }
  return { spans, rejected };
}

function spanOf(raw: Record<string, unknown>, resource: Attributes, scope: string | null): Span | string {
  const traceId = id(raw.traceId, 32);
  const spanId = id(raw.spanId, 16);
  if (traceId === null || spanId === null) return "a traceId or spanId is not valid";
  const startNanos = nanos(raw.startTimeUnixNano);
  const endNanos = nanos(raw.endTimeUnixNano);
  if (startNanos === null || startNanos === 0n) return `span ${spanId} has no start`;
  if (endNanos === null || endNanos === 0n) return `span ${spanId} has no end`;
  if (endNanos < startNanos) return `span ${spanId} ends before it starts`;
  const status = (raw.status ?? {}) as { code?: unknown; message?: unknown };
  return {
    traceId,
    spanId,
    parentSpanId: id(raw.parentSpanId, 16),
    name: typeof raw.name === "string" ? raw.name : "",
    kind: typeof raw.kind === "number" ? raw.kind : 0,
    startNanos,
    endNanos,
    attributes: attributesOf(raw.attributes),
    resource,
    scope,
    statusCode: typeof status.code === "number" ? status.code : 0,
    statusMessage: typeof status.message === "string" && status.message !== "" ? status.message : null,
    exception: exceptionOf(raw.events),
  };
}

/** A hex ID of the given length in lower case; null if invalid or all zeros. */
function id(value: unknown, length: number): string | null {
  if (typeof value !== "string" || value.length !== length || !/^[\da-f]+$/i.test(value) || /^0+$/.test(value)) return null;
  return value.toLowerCase();
}

/** The maximum of a signed 64-bit integer. */
const MAX_NANOS = 2n ** 63n - 1n;

function nanos(value: unknown): bigint | null {
  if (typeof value === "number" ? !Number.isInteger(value) || value < 0 : typeof value !== "string" || !/^\d{1,20}$/.test(value))
    return null;
  const count = BigInt(value as string | number);
  return count > MAX_NANOS ? null : count;
}

function exceptionOf(events: unknown): Span["exception"] {
  const event = list(events).find(({ name }) => name === "exception");
  if (event === undefined) return null;
  const attributes = attributesOf(event.attributes);
  return { type: textAttribute(attributes, "exception.type"), message: textAttribute(attributes, "exception.message") };
}

import { httpStatusOf, type Refusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import { agentErrorOf } from "../../wire/a2a/agent-errors.ts";
import type { JsonValue } from "../../kernel/json-value.ts";

const DOMAIN = "a2a-protocol.org";
const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest";
const encoder = new TextEncoder();

/** The gRPC status for an HTTP status. */
const STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  413: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const messageOf = ({ message, fields }: Refusal) =>
  fields === undefined ? message : `${message} ${fields.map(({ field, message: why }) => `${field} ${why}`).join("; ")}`;

/** The refusal as typed details of `google.rpc.Status`. */
function detailsOf(refusal: Refusal): JsonValue[] {
  const known = agentErrorOf(refusal.code);
  const metadata = Object.fromEntries(
    Object.entries(refusal.extra ?? {}).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
  return [
    {
      "@type": ERROR_INFO,
      reason: known?.reason ?? refusal.code.toUpperCase(),
      domain: known === null ? "gatehouse" : DOMAIN,
      metadata: { ...metadata, code: refusal.code },
    },
    ...(refusal.fields === undefined
      ? []
      : [{ "@type": BAD_REQUEST, fieldViolations: refusal.fields.map(({ field, message }) => ({ field, description: message })) }]),
  ];
}

export function restErrorText(refusal: Refusal): string {
  const code = httpStatusOf(refusal);
  const status = agentErrorOf(refusal.code)?.status ?? STATUSES[code] ?? "INTERNAL";
  return JSON.stringify({ error: { code, status, message: messageOf(refusal), details: detailsOf(refusal) } });
}

/** v1.0's own media type for responses if the caller uses it, otherwise application/json. */
export function mediaType(call: Pick<Call, "headers"> | null): string {
  const named = ["accept", "content-type"].some((name) => call?.headers.get(name)?.includes("application/a2a+json") === true);
  return named ? "application/a2a+json" : "application/json";
}

/** Refusals in the HTTP+JSON binding: `google.rpc.Status`. */
export const restRefusals: Pick<Surface, "refusal" | "streamError"> = {
  refusal: (refusal, call) => ({
    headers: { "content-type": mediaType(call) },
    body: restErrorText(refusal),
    status: httpStatusOf(refusal),
  }),
  streamError: (refusal) => encoder.encode(`event: error\ndata: ${restErrorText(refusal)}\n\n`),
};

const APPROVAL_REQUIRED = 4030;
const REFUSED = 4031;
const OWN_CODES: Readonly<Record<string, number>> = {
  rpc_parse_error: -32700,
  rpc_invalid_request: -32600,
  ambiguous_name: -32600,
  rpc_method_not_found: -32601,
  internal_error: -32603,
};

export function rpcErrorText(id: JsonValue, refusal: Refusal, version: "1.0" | "0.3"): string {
  const code =
    OWN_CODES[refusal.code] ?? agentErrorOf(refusal.code)?.rpc ?? (refusal.code === "approval_required" ? APPROVAL_REQUIRED : REFUSED);
  const data = version === "1.0" ? detailsOf(refusal) : { code: refusal.code, ...refusal.extra };
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: messageOf(refusal), data } });
}

/** Protocol errors are ordinary JSON-RPC responses with status 200; refusals by the gateway have their own HTTP status. */
export function agentRpcStatus(refusal: Refusal): number {
  const isProtocol = refusal.code.startsWith("rpc_") || agentErrorOf(refusal.code) !== null || refusal.code === "ambiguous_name";
  return isProtocol ? 200 : httpStatusOf(refusal);
}

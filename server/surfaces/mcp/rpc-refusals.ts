import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import type { ErrorCode, Refusal } from "../../kernel/errors.ts";
import { errorText, REFUSED, type RpcId } from "../../wire/mcp/rpc.ts";

/** JSON-RPC codes of protocol errors; every other refusal has a code of the gateway's own. */
export const PROTOCOL_CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  rpc_parse_error: -32700,
  rpc_invalid_request: -32600,
  ambiguous_name: -32600,
  rpc_method_not_found: -32601,
  rpc_invalid_params: -32602,
  rpc_header_mismatch: -32020,
  rpc_unsupported_version: -32022,
  internal_error: -32603,
};
const APPROVAL_REQUIRED = 4030;

/** IDs of requests in progress, so that a refusal carries the ID of its request. */
const ids = new WeakMap<Call, RpcId>();

/** The ID of the JSON-RPC request in a call; null if it has none. */
export function rpcIdOf(call: Call): RpcId | null {
  return ids.get(call) ?? null;
}

export function rememberRpcId(call: Call, id: RpcId): void {
  ids.set(call, id);
}

function bodyOf(refusal: Refusal, call: Call | null): string {
  const id = call === null ? null : (ids.get(call) ?? null);
  const own = PROTOCOL_CODES[refusal.code];
  const message =
    refusal.fields === undefined
      ? refusal.message
      : `${refusal.message} ${refusal.fields.map(({ field, message: why }) => `${field} ${why}`).join("; ")}`;
  if (own === -32022) return errorText(id, { code: own, message, data: refusal.extra });
  return errorText(id, {
    code: own ?? (refusal.code === "approval_required" ? APPROVAL_REQUIRED : REFUSED),
    message,
    data: { code: refusal.code, ...refusal.extra },
  });
}

/** Refusals as JSON-RPC errors. */
export const rpcRefusals: Pick<Surface, "refusal" | "streamError"> = {
  refusal: (refusal, call) => ({
    headers: { "content-type": "application/json" },
    body: bodyOf(refusal, call),
    // Clients of tool servers take a 403 for a missing OAuth scope.
    ...(refusal.code === "approval_required" ? { status: 200 } : {}),
  }),
  streamError: (refusal, call) => new TextEncoder().encode(`event: message\ndata: ${bodyOf(refusal, call)}\n\n`),
};

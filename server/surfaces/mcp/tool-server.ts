import type { ToolService } from "../../services/tools/tool-service.ts";
import type { Call } from "../../road/call.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { ToolRequest } from "../../services/tools/tool-request.ts";
import type { Forget } from "../../services/tools/request-texts.ts";
import { toolView } from "../../services/tools/tool-view.ts";
import { ambiguityOf } from "../../wire/json/ambiguous-name.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import { capabilityOf, isTaskMethod, lookAlikeMethod } from "../../wire/mcp/capability.ts";
import { envelopeOf, isHandshakeOnly, isStatelessVersion } from "../../wire/mcp/dialect.ts";
import { headerMismatch } from "../../wire/mcp/headers.ts";
import { mayBeRpc } from "../../wire/mcp/may-be-rpc.ts";
import { paramHeadersOf } from "../../wire/mcp/param-headers.ts";
import { isRpcProblem, readRpc } from "../../wire/mcp/rpc.ts";
import { mayLeadOut } from "./sub-path.ts";
import { rememberRpcId, rpcRefusals } from "./rpc-refusals.ts";

/** /v1/proxy/mcp/{server_id} and what lies below it, in both dialects (interface 4.5). */
export const toolServer = (tools: ToolService) => surface(tools, "server", "/v1/proxy/mcp/");

/** /v1/proxy/vmcp/{virtual_server_id}. */
export const virtualToolServer = (tools: ToolService) => surface(tools, "virtual", "/v1/proxy/vmcp/");

export function surface(tools: ToolService, kind: ToolRequest["target"]["kind"], prefix: string): Surface {
  return {
    ...rpcRefusals,
    notAdmitted: (refusal, call) => tools.challenged(refusal, call),
    read(call, body) {
      const rest = call.path.slice(prefix.length);
      const slash = rest.indexOf("/");
      const id = decoded(slash < 0 ? rest : rest.slice(0, slash));
      const below = slash < 0 || slash === rest.length - 1 ? null : rest.slice(slash);
      const subPath = below === null ? null : below + new URL(call.url).search;
      call.row.server_id = id.slice(0, 200);
      if (below !== null && mayLeadOut(below)) return refuse("not_found");
      const request = readRequest(call, { kind, id }, subPath, body);
      return isRefusal(request) ? request : exchange(tools, request, call);
    },
  };
}

export function exchange(tools: ToolService, request: ToolRequest, arriving: Call): Exchange {
  const { row, headers } = arriving;
  arriving.beforeRecord.push(() => tools.noteRefused(arriving));
  const forget = (field: Parameters<Forget>[0]) => {
    row[field] = field === "endpoint" ? endpointAbove(row.endpoint, request.subPath) : null;
  };
  const view = toolView(request, forget, () => [headers.get("last-event-id"), headers.get("mcp-protocol-version")]);
  return { view, answer: (call) => tools.call(call, request, view) };
}

/** The part of the row's endpoint that names the server, without the path below it. */
function endpointAbove(endpoint: string | null | undefined, subPath: string | null): string | null {
  const [below = ""] = subPath?.split("?") ?? [];
  return endpoint?.slice(0, endpoint.length - below.length) ?? null;
}

export function readRequest(
  call: Call,
  target: ToolRequest["target"],
  subPath: string | null,
  body: Uint8Array | null,
): ToolRequest | Refusal {
  const { headers } = call;
  const { method } = call;
  const spoken = headers.get("mcp-protocol-version");
  const nothing: ToolRequest = { target, subPath, message: null, body: null, envelope: null, capability: null, paramHeaders: {} };
  if (body === null) {
    // Reading and ending a session exist only in the handshake dialect.
    if (subPath === null && isStatelessVersion(spoken)) return refuse("method_not_allowed", undefined, { headers: { allow: "POST" } });
    call.row.mcp_method = method === "DELETE" && subPath === null ? "session/end" : null;
    return nothing;
  }
  const message = readRpc(body);
  if (isRpcProblem(message)) {
    if (message.ambiguous === true) return refuse("ambiguous_name", message.message);
    // Below its own path a server may accept bodies that are not protocol messages, but not JSON-RPC batches.
    if (subPath !== null && !mayBeRpc(body)) return { ...nothing, body };
    if (message.id !== null) rememberRpcId(call, message.id);
    return refuse(message.code === -32700 ? "rpc_parse_error" : "rpc_invalid_request", message.message);
  }
  if (message.id !== null) rememberRpcId(call, message.id);
  call.row.mcp_method = message.method?.slice(0, 200) ?? null;
  call.row.mcp_request_id = message.id === null ? null : String(message.id).slice(0, 200);
  const meant = message.method === null ? null : lookAlikeMethod(message.method);
  if (meant !== null) return refuse("ambiguous_name", ambiguityOf({ name: message.method ?? "", other: meant }));
  const envelope = message.kind === "response" ? null : envelopeOf(message, spoken);
  if (typeof envelope === "string") return refuse("rpc_invalid_params", envelope);
  // Parameters of a method that the dialect lacks are not checked: the missing method is reported later.
  const gone = envelope !== null && isHandshakeOnly(message.method ?? "");
  const named = message.method === null || gone ? null : capabilityOf(message.method, message.params);
  // Virtual servers have no tasks, so a missing task parameter is not worth reporting.
  const capability = typeof named === "string" && target.kind === "virtual" && isTaskMethod(message.method) ? null : named;
  if (typeof capability === "string") return refuse("rpc_invalid_params", `params.${capability} must be a text.`);
  // Neither the database nor a header of the stateless dialect can hold such a name.
  if (capability !== null && !isStorableText(capability.name))
    return refuse("rpc_invalid_params", `The name of the ${capability.type} holds a NUL or half a surrogate pair.`);
  call.row.mcp_capability_name = capability?.name.slice(0, 1000) ?? null;
  const mismatch = message.method === null ? null : headerMismatch(headers, message.method, capability, envelope?.version ?? null);
  if (mismatch !== null) return refuse("rpc_header_mismatch", mismatch);
  const paramHeaders = envelope === null ? {} : paramHeadersOf(headers);
  return { target, subPath, message, body, envelope, capability, paramHeaders };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

import { ERRORS, isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import type { ToolRequest } from "../../services/tools/tool-request.ts";
import type { ToolService } from "../../services/tools/tool-service.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { statelessResult } from "../../wire/mcp/bridge.ts";
import { resultText } from "../../wire/mcp/rpc.ts";
import { PROTOCOL_CODES, rpcIdOf, rpcRefusals } from "./rpc-refusals.ts";
import { exchange, readRequest, surface } from "./tool-server.ts";

const PREFIX = "/v1/proxy/mcp/";
/** The audit subtype of each of its tools. */
const SUBTYPES: Readonly<Record<string, string>> = {
  skills__load: "skill_load",
  skills__read_resource: "skill_read",
  skills__run_script: "skill_run",
  skills__render_template: "skill_render",
};
const READS = new Set(["resources/read", "skills/get", "resources/directory/read"]);
/** Rate limiting, authentication and internal errors use the HTTP status, as on every surface. */
const BY_STATUS = new Set([401, 429, 500]);

/** Tool calls in progress, by the dialect in which their failures are reported. */
const toolCalls = new WeakMap<Call, "handshake" | "stateless">();

/** /v1/proxy/mcp/system-agent-skill-server-{tenant}: a failure inside a tool is reported in its result (interface 4.5). */
export const skillToolServer = (tools: ToolService): Surface => ({
  ...surface(tools, "server", PREFIX),
  read(call, body) {
    const id = call.path.slice(PREFIX.length);
    call.row.server_id = decodeURIComponent(id).slice(0, 200);
    const request = readRequest(call, { kind: "server", id: decodeURIComponent(id) }, null, body);
    if (isRefusal(request)) return request;
    noteKind(call, request);
    return exchange(tools, withoutToken(call, request), call);
  },
  refusal(refusal, call) {
    const dialect = call === null ? undefined : toolCalls.get(call);
    if (call === null || dialect === undefined || !isOfTool(refusal, call)) return rpcRefusals.refusal(refusal, call);
    const result = JSON.stringify(resultOf(refusal, call));
    const text = dialect === "stateless" ? statelessResult("tools/call", result, null) : result;
    return { headers: { "content-type": "application/json" }, body: resultText(rpcIdOf(call), text), status: 200 };
  },
});

function noteKind(call: Call, { message, capability, envelope }: ToolRequest): void {
  const { row } = call;
  if (message?.method === "tools/call" && capability !== null) {
    toolCalls.set(call, envelope === null ? "handshake" : "stateless");
    const subtype = capability.name.startsWith("skill__") ? "skill_load" : SUBTYPES[capability.name];
    if (subtype !== undefined) row.proxy_subtype = subtype;
    // A run that begins with a script is a skill execution, whoever asked for it.
    if (subtype === "skill_run" && row.trace_continuity === "minted") row.trace_root_kind = "skill_execution";
  } else if (READS.has(message?.method ?? "")) row.proxy_subtype = "skill_read";
}

/** Removes the approval token from the request, so that no control inspects it and no record contains it. */
function withoutToken(call: Call, request: ToolRequest): ToolRequest {
  const { message } = request;
  const given = message?.params.arguments;
  if (message == null || !isObject(given) || given.approval_token === undefined) return request;
  const { approval_token: token } = given;
  delete given.approval_token;
  message.document.touch("params");
  call.requestContent = message.document.text();
  return typeof token === "string" ? { ...request, approvalToken: token } : request;
}

function isOfTool({ code }: Refusal, call: Call): boolean {
  return (
    call.target.kind === "tool" && PROTOCOL_CODES[code] === undefined && (code.startsWith("sandbox_") || isToolStatus(ERRORS[code].status))
  );
}

const isToolStatus = (status: number) => status < 503 && !BY_STATUS.has(status);

function resultOf({ code, message, extra }: Refusal, { row }: Call): JsonObject {
  if (code === "approval_required") {
    const { status: _status, ...rest } = (extra ?? {}) as JsonObject;
    const pending = { execution_id: row.skill_execution_id ?? null, status: "pending_approval", ...rest } as JsonObject;
    return { content: [{ type: "text", text: JSON.stringify(pending) }], structuredContent: pending, isError: false };
  }
  return { content: [{ type: "text", text: message }], isError: true, _meta: { "dev.gatehouse/error": { ...extra, code } as JsonObject } };
}

import { reasonOf, type Refusal, refuse, Refused, isRefusal } from "../../../kernel/errors.ts";
import { ulid } from "../../../kernel/ids.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { STATELESS_VERSION } from "../../../wire/mcp/dialect.ts";
import { memberText, requestText } from "../../../wire/mcp/rpc.ts";
import { digestOf } from "../../../wire/mcp/tool-definitions.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { recordTarget } from "../../../road/outlet.ts";
import { allPages, type ListPage } from "./all-pages.ts";
import { forgotSession } from "../sessions/forgotten-session.ts";
import { rememberTools } from "./listed-tools.ts";
import { JSON_AND_EVENTS } from "../sessions/session-pool.ts";
import { upstreamSession } from "../sessions/session-token.ts";
import type { ToolParts } from "../tool-parts.ts";
import { principalOf } from "../../../road/principal.ts";
import type { ToolRequest } from "../tool-request.ts";
import { refusesCredential } from "../forwarding/upstream-credentials.ts";
import { finalMessage, upstreamMessages } from "../forwarding/upstream-messages.ts";
import { completeList } from "./complete-list.ts";

/**
 * Digest of a tool's input schema as the server lists it now; empty if the tool is not listed. The server is asked, because processes need
 * not have cached the same list. Descriptions are ignored, as some servers put the current time into them. Throws `Refused` if the server
 * cannot be asked.
 */
export async function currentDefinition(
  call: Call,
  request: ToolRequest,
  { server: registered }: ToolTarget,
  name: string,
  parts: ToolParts,
): Promise<string> {
  const { subPath } = request;
  if (subPath === null && registered.dialect !== null && !("tools" in registered.capabilities)) return "";
  const spoken = request.envelope === null ? "handshake" : "stateless";
  // Discovery covers only the registered address, not paths below it.
  const server =
    subPath === null
      ? { ...registered, dialect: registered.dialect ?? spoken }
      : ({ ...registered, dialect: spoken, url: `${registered.baseUrl}${subPath}` } as const);
  const unrecorded = recordTarget(call, server.url, null, parts);
  if (unrecorded !== null) throw new Refused(unrecorded);
  // The row describes the caller's request, so its hashes are restored after the gateway's own.
  const {
    requestContent,
    row: { request_content_hash: hash },
  } = call;
  const own =
    server.dialect === "handshake" && request.envelope === null
      ? upstreamSession(parts.secrets, `${principalOf(call)}\n${server.id}`, call.headers.get("mcp-session-id") ?? "")
      : null;
  const pages =
    own === null
      ? await completeList(
          call,
          "tools/list",
          server,
          { version: STATELESS_VERSION, capabilities: {}, clientInfo: null, logLevel: null, session: null },
          parts,
        )
      : await listInSession(call, server, own.id, parts);
  call.requestContent = requestContent;
  call.row.request_content_hash = hash;
  if (pages !== null && !Array.isArray(pages)) throw new Refused(pages);
  if (pages === null)
    throw new Refused(refuse("upstream_error", "The tool server did not list its tools, so that it is not known what would be approved."));
  const tools = pages
    .flatMap(({ result: { tools: listed } }) => (Array.isArray(listed) ? listed : []))
    .filter((tool) => isObject(tool) && tool.name === name);
  call.row.tool_definition_hash = rememberTools(parts.memory, server, tools).get(name)?.hash ?? null;
  // If a name is listed twice, either tool may be meant, so the digest covers both.
  return tools.length === 0 ? "" : digestOf(tools.map((tool) => (isObject(tool) ? (tool.inputSchema ?? null) : null)));
}

/** Lists within the caller's own session, because some servers allow only one session. */
async function listInSession(
  call: Call,
  server: ToolTarget["server"],
  session: string,
  parts: ToolParts,
): Promise<ListPage[] | Refusal | null> {
  const credentials = await parts.credentials.headersFor(call, server);
  if (isRefusal(credentials)) return credentials;
  const version = call.headers.get("mcp-protocol-version");
  const headers = {
    ...JSON_AND_EVENTS,
    ...credentials,
    "mcp-session-id": session,
    ...(version === null ? {} : { "mcp-protocol-version": version }),
  };
  return allPages(async (cursor) => {
    const id = `gw-${ulid()}`;
    const abort = new AbortController();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      abort.abort("upstream_timeout");
    }, server.timeoutMs);
    const follow = () => abort.abort(call.abort.signal.reason);
    if (call.abort.signal.aborted) follow();
    call.abort.signal.addEventListener("abort", follow, { once: true });
    try {
      const response = await parts.send({
        url: server.url,
        method: "POST",
        headers,
        body: requestText(id, "tools/list", JSON.stringify(cursor === null ? {} : { cursor })),
        abort,
        timeoutMs: server.timeoutMs,
      });
      if (isRefusal(response)) return response;
      const refused = refusesCredential(response) ? await parts.credentials.refused(call, server, response) : null;
      if (refused !== null) return refused;
      if (await forgotSession(response)) return refuse("session_not_found");
      const answer = await finalMessage(upstreamMessages(response), id);
      const result = answer?.value.result;
      return answer !== null && isObject(result) ? { result, text: memberText(answer.text, "result") ?? "{}" } : null;
    } catch (error) {
      return late
        ? refuse("upstream_timeout", "The tool server did not list its tools in time.")
        : refuse("upstream_interrupted", "The tool server broke off its list of tools.", { reason: reasonOf(error) });
    } finally {
      clearTimeout(timer);
      call.abort.signal.removeEventListener("abort", follow);
      abort.abort("exchange_over");
    }
  });
}

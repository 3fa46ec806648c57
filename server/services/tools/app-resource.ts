import { discoveredResources } from "../../directory/tools/discovered-tools.ts";
import type { ToolServerEntry } from "../../directory/tools/tool-server-entry.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isObject } from "../../kernel/json-value.ts";
import { type AppPage, appPage } from "../../wire/mcp/app-page.ts";
import { APPS_HOST } from "../../wire/mcp/apps.ts";
import { STATELESS_VERSION } from "../../wire/mcp/dialect.ts";
import { readUpstreamRpc } from "../../wire/mcp/rpc.ts";
import { authorizedSend } from "./authorization/authorize-server.ts";
import type { Call } from "../../road/call.ts";
import { answerGate } from "./answers/answer-gate.ts";
import { forwardRequest } from "./forwarding/forward-request.ts";
import type { ForwardedRequest } from "./forwarding/forwarded-request.ts";
import { answerOf } from "./answers/relay.ts";
import type { ToolParts, ToolServiceParts } from "./tool-parts.ts";
import { toolsOf } from "../../road/target.ts";

export type AppResourceDispatch = (call: Call, uri: string) => Promise<AppPage | Refusal>;

/** Reads a tool's UI resource for a page that displays it. Server and permission were resolved by the access control. */
export function appResourceDispatch(shared: ToolServiceParts): AppResourceDispatch {
  return async (call, uri) => {
    const target = toolsOf(call)?.targets[0];
    if (target === undefined) throw new Error("the interface of a tool was asked for that no control had resolved");
    const { server } = target;
    const { upstream } = shared.outlet.look(call);
    const parts: ToolParts = { ...shared, send: authorizedSend({ ...shared.authorization, send: upstream }, call, [server]) };
    call.row.server_id = server.id;
    call.row.mcp_method = "resources/read";
    call.row.mcp_capability_name = uri.slice(0, 1000);
    const sender = {
      version: STATELESS_VERSION,
      capabilities: APPS_HOST,
      clientInfo: { name: "gatehouse", version: "1" },
      logLevel: null,
      session: null,
    };
    const request: ForwardedRequest = {
      server,
      method: "resources/read",
      params: JSON.stringify({ uri }),
      parsed: { uri },
      capability: { type: "resource", name: uri },
      id: 1,
      dialect: "stateless",
      sender,
      session: null,
      gate: (text, result) => answerGate(call, target, text, result, parts),
      edit: () => null,
    };
    const answer = await answerOf(call, forwardRequest(call, request, parts));
    if (typeof answer !== "string") return answer;
    const page = appPage(readUpstreamRpc(answer)?.result, uri);
    return page === null ? refuse("not_found", "The tool server has no such app.") : described(page, call, server, parts);
  };
}

/** Adds the content security policy and permissions from the resource listing if the page itself declares none. */
async function described(page: AppPage, call: Call, server: ToolServerEntry, parts: ToolParts): Promise<AppPage> {
  if (page.meta?.ui !== undefined) return page;
  const listed = (await discoveredResources(parts, call.identity?.tenantId ?? "", server.id)).find(
    (item) => isObject(item) && item.uri === page.uri,
  );
  const meta = isObject(listed) ? listed._meta : undefined;
  return isObject(meta) && isObject(meta.ui) ? { ...page, meta: { ...page.meta, ui: meta.ui } } : page;
}

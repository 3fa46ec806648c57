import type { Surface } from "../../governance/surface.ts";
import { isRefusal } from "../../governance/surface.ts";
import { EMPTY_VIEW } from "../../governance/view.ts";
import { refuse } from "../../kernel/errors.ts";
import { APP_SCHEME } from "../../wire/mcp/apps.ts";

const PATH = /\/mcp-apps\/([^/]+)\/resource$/;
const encoder = new TextEncoder();

/** GET /v1/portal/mcp-apps/{server_id}/resource?uri=ui://...: the interface of a tool as its server has it, with its `_meta.ui` (interface 4.4). */
export const appResource: Surface = {
  read(call) {
    const serverId = PATH.exec(call.path)?.[1] ?? "";
    const uri = new URL(call.request.url).searchParams.get("uri") ?? "";
    if (!uri.startsWith(APP_SCHEME)) return refuse("invalid_query", "uri must be the address of an app: ui://...", { fields: [{ field: "uri", message: "must begin with ui://" }] });
    return {
      view: { ...EMPTY_VIEW, tool: { kind: "server", serverId, method: "resources/read", capability: { type: "resource", name: uri }, arguments: undefined } },
      async answer(admitted, dispatch) {
        const resource = await dispatch.appResource(admitted, uri);
        if (isRefusal(resource)) return resource;
        return { kind: "whole", status: 200, headers: { "content-type": "application/json", "cache-control": "no-store" }, body: encoder.encode(JSON.stringify({ server_id: serverId, ...resource })), usage: null, failure: null };
      },
    };
  },
  refusal: (refusal) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify({ error: refusal.message, code: refusal.code, ...(refusal.fields === undefined ? {} : { fields: refusal.fields }), ...refusal.extra }) }),
  streamError: () => new Uint8Array(0),
};

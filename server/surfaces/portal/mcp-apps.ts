import { appResourceQuery } from "@gatehouse/contracts/portal";
import { isRefusal } from "../../governance/surface.ts";
import { readResource, resourceRequest } from "../../governance/tools/read-resource.ts";
import { toolView } from "../../governance/tools/tool-view.ts";
import { type Refusal, refuse, Refused } from "../../kernel/errors.ts";
import { check, readQuery } from "../../wire/strict-input.ts";
import { portalAnswer, type PortalRoute } from "./portal-operation.ts";
import { portalRefusals } from "./refusals.ts";

const PATH = /^\/v1\/portal\/mcp-apps\/([^/]+)\/resource$/;

function asked(path: string, url: string): { serverId: string; uri: string } | Refusal {
  try {
    const { uri } = check(appResourceQuery, readQuery(new URL(url)), "invalid_query");
    return { serverId: decodeURIComponent(PATH.exec(path)?.[1] ?? ""), uri };
  } catch (error) {
    return error instanceof Refused ? error.refusal : refuse("not_found");
  }
}

/** What a tool's own page in the portal reads of its server. It passes the controls of any call to a tool server. */
export const appRoutes: readonly PortalRoute[] = [
  {
    method: "GET",
    path: "/v1/portal/mcp-apps/:server_id/resource",
    audit: { proxyType: "portal", proxySubtype: "mcp_app_resource" },
    admits: "user",
    body: false,
    surface: () => ({
      ...portalRefusals,
      read(call) {
        const found = asked(call.path, call.request.url);
        if (isRefusal(found)) return found;
        if (call.scope === null) return refuse("no_resource_group");
        const request = resourceRequest(found.serverId, found.uri);
        return {
          view: toolView(request),
          async answer(admitted, dispatch) {
            const resource = await readResource(admitted, dispatch, request);
            if (isRefusal(resource)) return resource;
            const { uri, content, mimeType, sizeBytes } = resource;
            return portalAnswer(200, { uri, content, mime_type: mimeType, size_bytes: sizeBytes });
          },
        };
      },
    }),
  },
];

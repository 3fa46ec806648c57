import { appResource, runtimeError } from "@gatehouse/contracts/portal-answers";
import { appResourceQuery } from "@gatehouse/contracts/portal";
import { isRefusal, type Refusal, refuse, Refused } from "../../kernel/errors.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import { check, readQuery } from "../../wire/http/strict-input.ts";
import { portalAnswer, type PortalRoute } from "./portal-operation.ts";
import { portalRefusals } from "./refusals.ts";

const PATH = /^\/v1\/portal\/mcp-apps\/([^/]+)\/resource$/;

function requestedApp(path: string, url: string): { serverId: string; uri: string } | Refusal {
  try {
    const { uri } = check(appResourceQuery, readQuery(new URL(url)), "invalid_query");
    return { serverId: decodeURIComponent(PATH.exec(path)?.[1] ?? ""), uri };
  } catch (error) {
    return error instanceof Refused ? error.refusal : refuse("not_found");
  }
}

/**
 * A tool's user interface as its server provides it (interface 4.4), for a page that shows it: `{uri, content, mime_type, size_bytes,
 * _meta}`, base64 if the server did not send text. It passes the same controls as any call to a tool server.
 */
export const appRoutes: readonly PortalRoute[] = [
  {
    method: "GET",
    path: "/v1/portal/mcp-apps/:server_id/resource",
    audit: { proxyType: "portal", proxySubtype: "mcp_app_resource" },
    admits: "user_or_key",
    body: false,
    described: {
      tag: "Portal",
      summary: "The interface of a tool, as its server has it",
      query: appResourceQuery,
      answer: { status: 200, schema: appResource },
      error: runtimeError,
    },
    surface: ({ portal: { apps } }) => ({
      ...portalRefusals,
      read(call) {
        const found = requestedApp(call.path, call.url);
        if (isRefusal(found)) return found;
        if (call.scope === null) return refuse("no_resource_group");
        const { serverId, uri } = found;
        return {
          view: {
            ...EMPTY_VIEW,
            target: {
              kind: "tool",
              server: "single",
              serverId,
              dialect: "stateless",
              method: "resources/read",
              listens: false,
              capability: { type: "resource", name: uri },
              arguments: undefined,
            },
          },
          async answer(admitted) {
            const resource = await apps(admitted, uri);
            if (isRefusal(resource)) return resource;
            const { content, mimeType, meta, sizeBytes } = resource;
            return portalAnswer(200, { uri: resource.uri, content, mime_type: mimeType, size_bytes: sizeBytes, _meta: meta });
          },
        };
      },
    }),
  },
];

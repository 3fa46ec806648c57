import type { AllowedOrigins } from "../../kernel/configuration/allowed-origins.ts";

/**
 * What browsers need to let pages of other origins call the text surfaces, the portal API, and tool servers with the
 * broker in front of them. Documents for discovery are for every page. No cookie counts in any of these, so nothing is
 * allowed with credentials.
 */

const CALLS = /^\/v1(?:\/(?:proxy\/llm|portal|messages|models)|beta\/models)(?:\/|$)/;
const TOOL_SERVERS = /^\/v1\/proxy\/(?:mcp|vmcp|oauth)\//;
const DISCOVERY =
  /^(?:\/v1\/proxy\/(?:mcp|oauth)\/.+)?\/\.well-known\/(?:oauth-protected-resource|oauth-authorization-server|openid-configuration)(?:\/|$)/;
const METHODS = "GET, POST, PUT, PATCH, DELETE";
/** What the vendors' clients send, and callers of tool servers; of arguments mirrored in headers, any. */
const HEADERS =
  /^(?:authorization|content-type|accept|last-event-id|user-agent|x-api-key|x-gateway-authorization|x-tenant-id|x-resource-group|x-approval-token|x-correlation-id|x-request-id|x-client-request-id|idempotency-key|traceparent|tracestate|baggage|(?:x-gw|x-goog|x-stainless|openai|anthropic)-[a-z-]+|mcp-(?:protocol-version|session-id|method|name|param-[!#$%&'*+.^_`|~0-9a-z-]+))$/;
/** What pages read in any case, and what is between the browser and the gateway. */
const UNEXPOSED =
  /^(?:access-control-.*|vary|connection|cache-control|content-language|content-length|content-type|date|expires|last-modified)$/;
const MAX_AGE_SECONDS = "600";

/** Whose page the answer may be read by: an origin, `*` for every one, null for none. */
function readerOf(request: Request, path: string, allowed: AllowedOrigins): string | null {
  const origin = request.headers.get("origin");
  if (origin === null) return null;
  if (DISCOVERY.test(path)) return "*";
  const may = CALLS.test(path) ? allowed.calls : TOOL_SERVERS.test(path) ? allowed.toolServers : null;
  return may?.has(origin) === true ? origin : null;
}

/** The answer to a browser's own question before a call; null when the request is none, or its page may not call. */
export function preflight(request: Request, allowed: AllowedOrigins): Response | null {
  if (request.method !== "OPTIONS" || request.headers.get("access-control-request-method") === null) return null;
  const reader = readerOf(request, new URL(request.url).pathname, allowed);
  if (reader === null) return null;
  const asked = (request.headers.get("access-control-request-headers") ?? "").split(",").map((name) => name.trim().toLowerCase());
  const headers = asked.filter((name) => HEADERS.test(name)).join(", ");
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": reader === "*" ? "GET" : METHODS,
      ...(headers === "" ? {} : { "access-control-allow-headers": headers }),
      "access-control-max-age": MAX_AGE_SECONDS,
    },
  });
}

/** Lets the page that asked or called read the answer, where it may. */
export function withCorsHeaders(request: Request, response: Response, allowed: AllowedOrigins): Response {
  const path = new URL(request.url).pathname;
  const reader = readerOf(request, path, allowed);
  // A cache between them may not give one page what another was given.
  if (reader !== null || CALLS.test(path) || TOOL_SERVERS.test(path)) response.headers.append("vary", "origin");
  if (reader === null) return response;
  response.headers.set("access-control-allow-origin", reader);
  response.headers.set("access-control-expose-headers", [...response.headers.keys()].filter((name) => !UNEXPOSED.test(name)).join(", "));
  return response;
}

import type { AllowedOrigins } from "../../kernel/configuration/allowed-origins.ts";

/**
 * CORS for the LLM surfaces, the portal API, and tool servers with their OAuth broker; discovery documents are open to
 * every origin. None of these use cookies, so credentials are never allowed.
 */

const CALLS = /^\/v1(?:\/(?:proxy\/llm|portal|messages|models)|beta\/models)(?:\/|$)/;
const TOOL_SERVERS = /^\/v1\/proxy\/(?:mcp|vmcp|oauth)\//;
const DISCOVERY =
  /^(?:\/v1\/proxy\/(?:mcp|oauth)\/.+)?\/\.well-known\/(?:oauth-protected-resource|oauth-authorization-server|openid-configuration)(?:\/|$)/;
const METHODS = "GET, POST, PUT, PATCH, DELETE";
/** The headers sent by vendors' clients and MCP clients, including any tool arguments mirrored in headers. */
const HEADERS =
  /^(?:authorization|content-type|accept|last-event-id|user-agent|x-api-key|x-gateway-authorization|x-tenant-id|x-resource-group|x-approval-token|x-correlation-id|x-request-id|x-client-request-id|idempotency-key|traceparent|tracestate|baggage|(?:x-gw|x-goog|x-stainless|openai|anthropic)-[a-z-]+|mcp-(?:protocol-version|session-id|method|name|param-[!#$%&'*+.^_`|~0-9a-z-]+))$/;
/** Headers that pages can read anyway, and those between browser and gateway only. */
const UNEXPOSED =
  /^(?:access-control-.*|vary|connection|cache-control|content-language|content-length|content-type|date|expires|last-modified)$/;
const MAX_AGE_SECONDS = "600";

/** The origin that may read the answer; `*` for any, null for none. */
function readerOf(request: Request, path: string, allowed: AllowedOrigins): string | null {
  const origin = request.headers.get("origin");
  if (origin === null) return null;
  if (DISCOVERY.test(path)) return "*";
  const may = CALLS.test(path) ? allowed.calls : TOOL_SERVERS.test(path) ? allowed.toolServers : null;
  return may?.has(origin) === true ? origin : null;
}

/** The answer to a CORS preflight; null if the request is not one, or its origin is not allowed. */
export function preflight(request: Request, allowed: AllowedOrigins): Response | null {
  if (request.method !== "OPTIONS" || request.headers.get("access-control-request-method") === null) return null;
  const reader = readerOf(request, new URL(request.url).pathname, allowed);
  if (reader === null) return null;
  const requestedHeaders = (request.headers.get("access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const headers = requestedHeaders.filter((name) => HEADERS.test(name)).join(", ");
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": reader === "*" ? "GET" : METHODS,
      ...(headers === "" ? {} : { "access-control-allow-headers": headers }),
      "access-control-max-age": MAX_AGE_SECONDS,
    },
  });
}

/** Adds the CORS headers if the origin may read the answer. */
export function withCorsHeaders(request: Request, response: Response, allowed: AllowedOrigins): Response {
  const path = new URL(request.url).pathname;
  const reader = readerOf(request, path, allowed);
  // A shared cache must not serve one origin's answer to another.
  if (reader !== null || CALLS.test(path) || TOOL_SERVERS.test(path)) response.headers.append("vary", "origin");
  if (reader === null) return response;
  response.headers.set("access-control-allow-origin", reader);
  response.headers.set("access-control-expose-headers", [...response.headers.keys()].filter((name) => !UNEXPOSED.test(name)).join(", "));
  return response;
}

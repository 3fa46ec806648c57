import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import type { StoredTokens } from "../../../directory/tools/oauth-tokens.ts";
import { type Refusal, refuse, reasonOf, isRefusal } from "../../../kernel/errors.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { readChallenge, parseScopes, writeChallenge } from "../../../wire/oauth/challenge.ts";
import type { Call } from "../../../road/call.ts";
import { baseUrl } from "./authorization-parts.ts";
import { refetchAuthorization } from "./authorization-cache.ts";
import { callerToken } from "./caller-token.ts";
import { connectLink } from "./connect-link.ts";
import { principalOfIdentity } from "./principal.ts";
import { metadataUrl, protectedServer } from "./protected-servers.ts";
import { storedTokens, renewedTokens, renewedIfNeeded } from "./token-renewal.ts";
import { toolsOf } from "../../../road/target.ts";
import type { ServerAuthorizationParts } from "./authorization-parts.ts";

/**
 * Sends requests to the tool servers of one call with the caller's authorization: the caller's own token, or else the tokens stored for it.
 * If a server rejects stored tokens, they are renewed and the request is sent once more. Failing that, the refusal tells the client where
 * to authorize, at the gateway's own addresses.
 */
export function authorizedSend(parts: ServerAuthorizationParts, call: Call, servers: readonly ToolServerEntry[]): ToolServerSend {
  const send = sendAuthorized(parts, call, servers);
  return async (request) => {
    try {
      return await send(request);
    } catch (error) {
      return refuse("directory_unavailable", "What the caller may show the tool server cannot be looked up just now.", {
        reason: reasonOf(error),
        headers: { "retry-after": "1" },
      });
    }
  };
}

/** Rejects if the database is needed but unavailable. */
function sendAuthorized(parts: ServerAuthorizationParts, call: Call, servers: readonly ToolServerEntry[]): ToolServerSend {
  return async (request) => {
    const server =
      servers.find(({ url }) => url === request.url) ?? servers.find(({ baseUrl: base }) => request.url.startsWith(`${base}/`));
    if (server?.authType !== "oauth" || call.identity === null) return parts.send(request);
    const principal = principalOfIdentity(call.identity);
    const own = callerToken(server, call);
    let stored: StoredTokens | null = null;
    if (own === null) {
      const usable = await renewedIfNeeded(parts, principal, server, call.identity.grantId);
      if (isRefusal(usable)) return usable;
      if (usable === null) return authorizationRequired(parts, call, server);
      stored = usable;
    }
    const shown = (token: string) => parts.send({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } });
    let token = own ?? (stored as StoredTokens).accessToken;
    let response = await shown(token);
    if (isRefusal(response)) return response;
    if (response.status === 401 && stored?.refreshToken != null) {
      void cancelQuietly(response.body);
      const renewed = await renewedTokens(parts, principal, server, stored);
      if (isRefusal(renewed)) return renewed;
      if (renewed !== null && renewed.accessToken !== stored.accessToken) {
        token = renewed.accessToken;
        response = await shown(token);
        if (isRefusal(response)) return response;
      }
    }
    if (response.status !== 401 && response.status !== 403) return response;
    const challenge = readChallenge(response.headers.get("www-authenticate"));
    if (response.status === 403 && challenge?.error !== "insufficient_scope") return response;
    void cancelQuietly(response.body);
    if (response.status === 401 && own === null) refetchAuthorization(parts.memory, server, token);
    return response.status === 401
      ? authorizationRequired(parts, call, server, parseScopes(challenge?.scope))
      : scopeRequired(parts, call, server, parseScopes(challenge?.scope));
  };
}

/** 401: no acceptable token. `wanted`: the scopes named in the server's challenge. */
export async function authorizationRequired(
  parts: ServerAuthorizationParts,
  call: Call,
  server: ToolServerEntry,
  wanted: readonly string[] = [],
): Promise<Refusal> {
  return required(parts, call, server, "upstream_authorization_required", wanted);
}

/** 403: the token's scopes do not suffice. The scopes already granted are requested again, so that none is lost. */
async function scopeRequired(
  parts: ServerAuthorizationParts,
  call: Call,
  server: ToolServerEntry,
  wanted: readonly string[],
): Promise<Refusal> {
  const held =
    call.identity === null || callerToken(server, call) !== null
      ? null
      : await storedTokens(parts, principalOfIdentity(call.identity), server);
  return required(parts, call, server, "upstream_scope_required", [...new Set([...(held?.scopes ?? []), ...wanted])]);
}

async function required(
  parts: ServerAuthorizationParts,
  call: Call,
  server: ToolServerEntry,
  code: "upstream_authorization_required" | "upstream_scope_required",
  wanted: readonly string[],
): Promise<Refusal> {
  const { identity } = call;
  if (identity === null) throw new Error("a call to a tool server was not admitted");
  const found = await protectedServer(parts, identity.tenantId, server);
  // If there is no usable issuer, telling the client to authorize would not help.
  if (isRefusal(found)) return found;
  const scopes = wanted.length > 0 ? wanted : found.scopes;
  const requestedScopes = scopes.filter((scope) => scope !== "offline_access").join(" ");
  // A virtual server is no protected resource itself: with a member's metadata a client would loop.
  const challenge =
    toolsOf(call)?.virtual != null
      ? "Bearer"
      : writeChallenge({
          error: code === "upstream_scope_required" ? "insufficient_scope" : null,
          scope: requestedScopes === "" ? null : requestedScopes,
          resourceMetadata: metadataUrl(baseUrl(parts, call), server.id),
        });
  const scope = requestedScopes === "" ? {} : { scope: requestedScopes };
  // The page behind a connect link asks for the caller's key or sign-in, and a workload has neither.
  if (identity.workloadProviderId !== undefined)
    return refuse(code, "A workload shows its own token for the tool server in Authorization.", {
      headers: { "www-authenticate": challenge },
      extra: { server_id: server.id, ...scope },
    });
  const link = connectLink(parts, call, principalOfIdentity(identity), server, found.issuers[0] as string, scopes);
  return refuse(code, undefined, {
    headers: { "www-authenticate": challenge },
    extra: { server_id: server.id, connect_url: link, ...scope },
  });
}

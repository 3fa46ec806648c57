import { issuerId } from "../../../directory/tools/issuer-id.ts";
import { configuredClient } from "../../../directory/tools/oauth-upstream-clients.ts";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { STATELESS_VERSION } from "../../../wire/mcp/dialect.ts";
import { mirroredHeaders } from "../../../wire/mcp/headers.ts";
import { requestText } from "../../../wire/mcp/rpc.ts";
import { statelessParams } from "../../../wire/mcp/bridge.ts";
import { readChallenge, parseScopes } from "../../../wire/oauth/challenge.ts";
import {
  type AuthorizationServer,
  authorizationServerUrls,
  readAuthorizationServer,
  readResourceMetadata,
  resourceMetadataUrls,
} from "../../../wire/oauth/metadata.ts";
import { requestJson, mayUseUrl } from "./request-json.ts";
import { keyOfServer, cachedLookup } from "./authorization-cache.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { ProtectedServer } from "./authorization-cache.ts";

type Parts = Pick<AuthorizationParts, "send" | "memory" | "clock" | "allowPrivate">;
/** `db` as well, because an administrator's configured issuer takes precedence over the server's. */
export type DiscoveryParts = Parts & Pick<AuthorizationParts, "db">;

const CACHE_MS = 300_000;

/** The server's authorization metadata, cached for five minutes. */
export async function protectedServer(
  parts: DiscoveryParts,
  tenantId: string,
  server: Pick<ToolServerEntry, "id" | "url">,
): Promise<ProtectedServer | Refusal> {
  return cachedLookup(parts.memory.servers, keyOfServer(server), parts.clock, CACHE_MS, async () => {
    const metadata = await discoverFromServer(parts, server.url);
    const byAdmin = await configuredClient(parts, tenantId, server.id);
    if (byAdmin === null) return metadata;
    const scopes = byAdmin.scopes ?? (isRefusal(metadata) ? [] : metadata.scopes);
    // With a configured issuer, the server need not publish any metadata.
    return isRefusal(metadata)
      ? { resource: server.url, issuers: [byAdmin.issuer], scopes, metadataUrl: null }
      : { ...metadata, issuers: [byAdmin.issuer], scopes };
  });
}

/** Asks the server itself: the URL in its challenge first, then the well-known locations. */
export async function discoverFromServer(parts: Pick<Parts, "send" | "allowPrivate">, url: string): Promise<ProtectedServer | Refusal> {
  const mayUse = mayUseUrl(parts.allowPrivate);
  const body = requestText(
    0,
    "server/discover",
    statelessParams("{}", {
      version: STATELESS_VERSION,
      capabilities: {},
      clientInfo: { name: "gatehouse", version: "1" },
      logLevel: null,
    }),
  );
  const probe = await requestJson(parts.send, {
    url,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...mirroredHeaders(STATELESS_VERSION, "server/discover", null),
    },
    body,
  });
  if (isRefusal(probe)) return probe;
  const challenge = probe.status === 401 ? readChallenge(probe.headers.get("www-authenticate")) : null;
  const named = challenge?.resourceMetadata ?? null;
  let why = "the tool server has no protected resource metadata";
  for (const at of new Set([...(named !== null && mayUse(named) ? [named] : []), ...resourceMetadataUrls(url)])) {
    const answer = await requestJson(parts.send, { url: at });
    if (isRefusal(answer) || answer.status !== 200) continue;
    const metadata = readResourceMetadata(answer.body, url);
    if (typeof metadata === "string") {
      why = `the document at ${at} ${metadata}`;
      continue;
    }
    const issuers = metadata.authorizationServers.filter(mayUse);
    if (issuers.length === 0) {
      why = `the document at ${at} names no authorization server that may be asked`;
      continue;
    }
    const wanted = parseScopes(challenge?.scope);
    return { resource: metadata.resource, issuers, scopes: wanted.length > 0 ? wanted : metadata.scopes, metadataUrl: at };
  }
  return refuse("upstream_auth_failed", "The tool server does not say how to authorize for it.", { reason: why });
}

/** The issuer's metadata, cached for five minutes. */
export async function authorizationServer(parts: Parts, issuer: string): Promise<AuthorizationServer | Refusal> {
  return cachedLookup(parts.memory.issuers, issuer, parts.clock, CACHE_MS, () => discoverFromIssuer(parts, issuer));
}

export async function discoverFromIssuer(
  parts: Pick<Parts, "send" | "allowPrivate">,
  issuer: string,
): Promise<AuthorizationServer | Refusal> {
  const mayUse = mayUseUrl(parts.allowPrivate);
  let why = "it has no metadata document";
  for (const url of authorizationServerUrls(issuer)) {
    const answer = await requestJson(parts.send, { url });
    if (isRefusal(answer) || answer.status !== 200) continue;
    const metadata = readAuthorizationServer(answer.body, issuer, mayUse);
    if (typeof metadata !== "string") return metadata;
    why = `the document at ${url} ${metadata}`;
  }
  return refuse("upstream_auth_failed", "The authorization server of the tool server cannot be used.", { reason: why });
}

/** Base URL of the broker for a server and issuer, which clients know as their issuer. */
export function brokerUrl(base: string, serverId: string, issuer: string): string {
  return `${base}/v1/proxy/oauth/${serverId}/${issuerId(issuer)}`;
}

export function toolServerUrl(base: string, serverId: string): string {
  return `${base}/v1/proxy/mcp/${serverId}`;
}

/** URL of the server's protected resource metadata at the gateway. */
export function metadataUrl(base: string, serverId: string): string {
  return `${base}/.well-known/oauth-protected-resource/v1/proxy/mcp/${serverId}`;
}

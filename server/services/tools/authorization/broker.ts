import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { issuerId } from "../../../directory/tools/issuer-id.ts";
import { findOAuthServer } from "../../../directory/tools/oauth-servers.ts";
import type { AuthorizationServer } from "../../../wire/oauth/metadata.ts";
import type { Call } from "../../../road/call.ts";
import { type AuthorizationParts, baseUrl } from "./authorization-parts.ts";
import { authorizationServer, brokerUrl, protectedServer } from "./protected-servers.ts";
import type { ProtectedServer } from "./authorization-cache.ts";

/** The server that a broker request concerns. */
export interface BrokeredServer {
  readonly tenantId: string;
  readonly id: string;
  readonly name: string;
  readonly url: string;
  /** The gateway's base URL. */
  readonly base: string;
  readonly says: ProtectedServer;
}

/** A server together with one of its issuers. */
export interface Broker extends BrokeredServer {
  readonly at: AuthorizationServer;
  /** The broker's own issuer identifier and base URL. */
  readonly broker: string;
  /** Binds sealed texts to this broker. */
  readonly owner: string;
}

/** Refuses a server that does not exist, is disabled or does not use its callers' authorization, without revealing which. */
export async function brokeredServer(parts: AuthorizationParts, call: Call, serverId: string): Promise<BrokeredServer | Refusal> {
  const server = await findOAuthServer(parts, serverId);
  if (server === null || (call.identity !== null && call.identity.tenantId !== server.tenantId)) return refuse("tool_server_not_found");
  call.row.tenant_id ??= server.tenantId;
  const says = await protectedServer(parts, server.tenantId, server);
  return isRefusal(says) ? says : { ...server, base: baseUrl(parts, call), says };
}

export async function brokerOf(parts: AuthorizationParts, call: Call, serverId: string, idpId: string): Promise<Broker | Refusal> {
  const server = await brokeredServer(parts, call, serverId);
  if (isRefusal(server)) return server;
  const issuer = server.says.issuers.find((candidate) => issuerId(candidate) === idpId);
  if (issuer === undefined) return refuse("not_found", "The tool server names no such identity provider.");
  const at = await authorizationServer(parts, issuer);
  return isRefusal(at) ? at : { ...server, at, broker: brokerUrl(server.base, server.id, issuer), owner: `${server.id}\n${issuer}` };
}

import type { Principal } from "../../../directory/tools/oauth-tokens.ts";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { parseScopes } from "../../../wire/oauth/challenge.ts";
import type { Call } from "../../../road/call.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import { baseUrl } from "./authorization-parts.ts";
import { openEnvelope, sealEnvelope } from "../../../road/admission/envelope.ts";
import { brokerUrl } from "./protected-servers.ts";

/** How long a connect link is valid. */
const LINK_MS = 900_000;

/** The content of a connect link: the principal to connect, and the scopes. */
export interface ConnectTicket {
  readonly principal: Principal;
  readonly name: string;
  readonly scopes: readonly string[];
}

/**
 * The link with which a person connects the server for the caller. It grants nothing by itself: its page asks for the caller's own
 * credential, so that nobody unknowingly connects their account to somebody else's key.
 */
export function connectLink(
  parts: Pick<AuthorizationParts, "publicUrl" | "secrets" | "clock">,
  call: Call,
  principal: Principal,
  server: Pick<ToolServerEntry, "id">,
  issuer: string,
  scopes: readonly string[],
): string {
  const broker = brokerUrl(baseUrl(parts, call), server.id, issuer);
  const name = call.identity?.username ?? call.identity?.credentialName ?? "";
  const ticket = sealEnvelope(
    parts.secrets,
    "connect",
    `${server.id}\n${issuer}`,
    { ...principal, name: name.slice(0, 100), scope: scopes.join(" ") },
    parts.clock.now() + LINK_MS,
  );
  return `${broker}/authorize?connect=${ticket}`;
}

/** Null if the ticket is invalid, expired, or for another server or issuer. */
export function readConnectTicket(
  parts: Pick<AuthorizationParts, "secrets" | "clock">,
  serverId: string,
  issuer: string,
  ticket: string,
): ConnectTicket | null {
  const value = openEnvelope(parts.secrets, "connect", `${serverId}\n${issuer}`, ticket, parts.clock.now());
  if (!isObject(value ?? undefined) || value === null) return null;
  const { tenantId, type, id, name, scope } = value;
  if (typeof tenantId !== "string" || (type !== "api_key" && type !== "user") || typeof id !== "string") return null;
  return { principal: { tenantId, type, id }, name: String(name), scopes: parseScopes(String(scope)) };
}

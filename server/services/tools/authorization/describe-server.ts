import type { IdentityProvider } from "@gatehouse/contracts/mcp-oauth";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { describeIssuer } from "./describe-issuer.ts";
import { discoverFromServer } from "./protected-servers.ts";

/** What a server and its issuers publish about authorization, and whether the gateway can use it. */
export interface ServerAuthorization {
  /** Null if the server publishes nothing usable; `problem` says why. */
  readonly resource: string | null;
  readonly resource_metadata_url: string | null;
  readonly authorization_servers: string[];
  readonly scopes_supported: string[];
  readonly problem: string | null;
  readonly identity_providers: IdentityProvider[];
}

const MAX_ISSUERS = 5;

/** Asks the server and its issuers. Nothing is cached. */
export async function describeServer(send: ToolServerSend, allowPrivate: boolean, url: string): Promise<ServerAuthorization> {
  const parts = { send, allowPrivate };
  const says = await discoverFromServer(parts, url);
  if (isRefusal(says))
    return {
      resource: null,
      resource_metadata_url: null,
      authorization_servers: [],
      scopes_supported: [],
      problem: says.reason ?? says.message,
      identity_providers: [],
    };
  const providers = await Promise.all(says.issuers.slice(0, MAX_ISSUERS).map((issuer) => describeIssuer(parts, issuer)));
  return {
    resource: says.resource,
    resource_metadata_url: says.metadataUrl,
    authorization_servers: [...says.issuers],
    scopes_supported: [...says.scopes],
    problem: null,
    identity_providers: providers,
  };
}

import { oauthClientContext } from "../../kernel/seal-contexts.ts";
import { adminClient, type OAuthUpstreamClientRow } from "../../store/tools/oauth-upstream-clients.ts";
import { removeRegisteredClient, putRegisteredClient, registeredClient } from "../../store/tools/registered-upstream-clients.ts";
import type { Directory } from "../writes/write.ts";

/** The gateway's registration as a client of an authorization server; held only in memory. */
export interface UpstreamClient {
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly authMethod: string;
  /** Whether an administrator entered it, rather than the gateway registering itself. */
  readonly isEntered: boolean;
}

/** A client that an administrator entered for a server; takes precedence over what the server advertises. */
export interface ConfiguredClient {
  readonly issuer: string;
  /** Null uses the scopes that the server names. */
  readonly scopes: readonly string[] | null;
}

type Parts = Pick<Directory, "db" | "secrets">;

export async function configuredClient({ db }: Pick<Parts, "db">, tenantId: string, serverId: string): Promise<ConfiguredClient | null> {
  const row = await adminClient(db, tenantId, serverId);
  return row === undefined ? null : { issuer: row.issuer, scopes: row.scopes };
}

/** Null if no client was entered for this issuer and none was registered for this redirect address. */
export async function knownClient(
  { db, secrets }: Parts,
  tenantId: string,
  serverId: string,
  issuer: string,
  redirectUri: string,
): Promise<UpstreamClient | null> {
  const entered = await adminClient(db, tenantId, serverId);
  // A client belongs to its issuer and must not be shown to any other.
  const row = entered?.issuer === issuer ? entered : await registeredClient(db, tenantId, serverId, issuer, redirectUri);
  return row === undefined ? null : opened(secrets, row);
}

export interface UpstreamClientRegistration extends Omit<UpstreamClient, "isEntered"> {
  readonly issuer: string;
  readonly redirectUri: string;
}

/** Of two concurrent registrations the first is kept. */
export async function storeRegistration(
  { db, secrets, clock }: Parts & Pick<Directory, "clock">,
  tenantId: string,
  serverId: string,
  { issuer, redirectUri, clientId, clientSecret, authMethod }: UpstreamClientRegistration,
): Promise<void> {
  await putRegisteredClient(db, {
    tenant_id: tenantId,
    mcp_server_id: serverId,
    issuer,
    redirect_uri: redirectUri,
    client_id: clientId,
    client_secret_sealed: clientSecret === null ? null : secrets.seal(clientSecret, oauthClientContext(serverId, issuer, clientId)),
    auth_method: authMethod,
    scopes: null,
    created_at: new Date(clock.now()),
  });
}

/** For an issuer that no longer knows the client: the next authorization registers a new one. */
export async function deleteRegistration({ db }: Pick<Parts, "db">, serverId: string, issuer: string, clientId: string): Promise<void> {
  await removeRegisteredClient(db, serverId, issuer, clientId);
}

function opened(secrets: Parts["secrets"], row: OAuthUpstreamClientRow): UpstreamClient {
  const clientSecret = secrets.openOrNull(row.client_secret_sealed, oauthClientContext(row.mcp_server_id, row.issuer, row.client_id));
  return { clientId: row.client_id, clientSecret, authMethod: row.auth_method, isEntered: row.redirect_uri === "" };
}

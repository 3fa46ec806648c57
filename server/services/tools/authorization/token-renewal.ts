import {
  findTokens,
  type IssuedTokens,
  type Principal,
  renewTokens,
  type StoredTokens,
  tokenRef,
} from "../../../directory/tools/oauth-tokens.ts";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { deleteRegistration } from "../../../directory/tools/oauth-upstream-clients.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { covers } from "../../../wire/oauth/metadata.ts";
import { clearAuthorization } from "./authorization-cache.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import { authorizationServer } from "./protected-servers.ts";
import { requestTokens, revokeTokens } from "./token-endpoint.ts";
import { clientOfTokens } from "./upstream-clients.ts";

export type TokenRenewalParts = Pick<AuthorizationParts, "db" | "secrets" | "clock" | "send" | "memory" | "allowPrivate">;
type Server = Pick<ToolServerEntry, "id" | "url">;

/** Tokens that expire within this time are renewed before use. */
const SOON_MS = 30_000;

/**
 * The principal's tokens for the server, renewed if they expire soon. Null if there are none that fit the server, or if the presented grant
 * (`grantId`) has ended. In steady state no database access is needed. Rejects if the database is needed but unavailable.
 */
export async function renewedIfNeeded(
  parts: TokenRenewalParts,
  principal: Principal,
  server: Server,
  grantId?: string,
): Promise<StoredTokens | Refusal | null> {
  const tokens = await storedTokens(parts, principal, server);
  if (grantId !== undefined && tokens?.grants.has(grantId) !== true) return null;
  if (tokens === null || tokens.expiresAt === null || tokens.expiresAt > parts.clock.now() + SOON_MS) return tokens;
  const ended = tokens.expiresAt <= parts.clock.now();
  if (tokens.refreshToken === null) return ended ? null : tokens;
  const renewed = await renewedTokens(parts, principal, server, tokens);
  // If the issuer is unavailable, the current tokens are used until they expire.
  return isRefusal(renewed) && !ended ? tokens : renewed;
}

export async function storedTokens(
  { memory, ...parts }: TokenRenewalParts,
  principal: Principal,
  server: Server,
): Promise<StoredTokens | null> {
  const key = `${principal.tenantId}\n${tokenRef(principal, server.id)}`;
  let held = memory.tokens.get(key);
  while (held === undefined) {
    const { generation } = memory;
    const found = await findTokens(parts, principal, server.id);
    if (generation !== memory.generation) continue;
    // Absence is not cached, because tokens may be added at any time, perhaps by another process.
    if (found === null) return null;
    memory.tokens.set(key, found);
    held = found;
  }
  // Tokens for the server's previous address must not be sent to a new one.
  return covers(held.resource, server.url) ? held : null;
}

/** Renews the same tokens only once at a time: within this process through the map, across processes through a lease in the row. */
export async function renewedTokens(
  parts: TokenRenewalParts,
  principal: Principal,
  server: Server,
  tokens: StoredTokens,
): Promise<StoredTokens | Refusal | null> {
  const { memory } = parts;
  const key = `${tokens.id}\n${tokens.accessToken}`;
  const under = memory.renewals.get(key) ?? renew(parts, principal, server, tokens).finally(() => memory.renewals.delete(key));
  memory.renewals.set(key, under);
  return under;
}

async function renew(
  parts: TokenRenewalParts,
  principal: Principal,
  server: Server,
  seen: StoredTokens,
): Promise<StoredTokens | Refusal | null> {
  const client = await clientOfTokens(parts, principal.tenantId, server.id, seen);
  const at = await authorizationServer(parts, seen.issuer);
  const leave = await parts.memory.renewing(principal.tenantId, `${principal.tenantId}\n${seen.issuer}`);
  if (leave === null)
    return refuse("upstream_timeout", "The authorization server of the tool server takes too long to renew what was authorized.");
  const came: { away: Refusal | null; unknownClient: boolean; tokens: IssuedTokens | null } = {
    away: null,
    unknownClient: false,
    tokens: null,
  };
  const renewed = await renewTokens(parts, principal, server.id, seen, async (tokens) => {
    if (client === null || tokens.refreshToken === null) return "gone";
    const answer = isRefusal(at)
      ? at
      : await requestTokens(
          parts.send,
          at,
          client,
          { grant_type: "refresh_token", refresh_token: tokens.refreshToken, resource: tokens.resource },
          tokens.scopes,
          parts.clock.now(),
        );
    if ("tokens" in answer) return (came.tokens = answer.tokens);
    if ("invalid" in answer) {
      came.unknownClient = answer.invalid === "invalid_client";
      if (!came.unknownClient || !client.isEntered) return "gone";
      // An administrator can correct the client's credentials, after which the tokens work again.
      came.away = refuse(
        "upstream_auth_failed",
        "The authorization server does not take the client that an administrator entered for this tool server.",
      );
    } else came.away = answer;
    return null;
  }).finally(leave);
  // The tokens were given up during the renewal, so the new ones are revoked too.
  if (renewed === null && came.tokens !== null && client !== null && !isRefusal(at))
    await revokeTokens(parts.send, at, client, came.tokens);
  if (came.unknownClient && client?.isEntered === false) await deleteRegistration(parts, server.id, seen.issuer, client.clientId);
  clearAuthorization(parts.memory, principal.tenantId, tokenRef(principal, server.id));
  return came.away ?? renewed;
}

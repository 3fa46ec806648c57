import { findOAuthServer } from "../../../directory/tools/oauth-servers.ts";
import { dropTokens, issuerWithTokens, listTokens, tokenRef } from "../../../directory/tools/oauth-tokens.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { isUuid } from "../../../kernel/ids.ts";
import { endGrant } from "../../../directory/tools/oauth-grants.ts";
import type { Call } from "../../../road/call.ts";
import { clearAuthorization } from "./authorization-cache.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import type { BrokerAnswer, BrokerRequest } from "./broker-request.ts";
import { looksLikeAccessToken, looksLikeRefreshToken, readAccessToken, readRefreshToken } from "../../../road/admission/gateway-tokens.ts";
import { forwardedAnswer, forwardForm } from "./forward-form.ts";
import { principalOfIdentity } from "./principal.ts";
import { giveUpTokens } from "./give-up-tokens.ts";

/** The tool server and issuer with which somebody has an account. */
export interface TokenAccount {
  readonly tenantId: string;
  readonly id: string;
  readonly issuer: string;
}

/** The caller's account as known from stored tokens, without contacting the server or its issuer, which may be unavailable. */
export async function ownTokenAccount(
  parts: AuthorizationParts,
  call: Call,
  { operation, serverId, idpId }: BrokerRequest,
): Promise<TokenAccount | null> {
  if (call.identity === null || idpId === null || (operation !== "list_tokens" && operation !== "delete_token")) return null;
  const server = await findOAuthServer(parts, serverId);
  if (server === null || server.tenantId !== call.identity.tenantId) return null;
  const issuer = await issuerWithTokens(parts, principalOfIdentity(call.identity), serverId, idpId);
  return issuer === null ? null : { tenantId: server.tenantId, id: server.id, issuer };
}

/** Lists the caller's tokens from this issuer for this server, without the tokens themselves. */
export async function ownTokens(parts: AuthorizationParts, call: Call, { id, issuer }: TokenAccount): Promise<BrokerAnswer | Refusal> {
  if (call.identity === null) return refuse("unauthenticated");
  const tokens = await listTokens(parts, principalOfIdentity(call.identity), id, issuer);
  return { kind: "json", status: 200, body: { tokens, total: tokens.length } };
}

/** Disconnects the caller: here immediately, at the issuer as far as it supports revocation. */
export async function deleteOwnToken(
  parts: AuthorizationParts,
  call: Call,
  account: TokenAccount,
  { recordId }: BrokerRequest,
): Promise<BrokerAnswer | Refusal> {
  if (call.identity === null) return refuse("unauthenticated");
  const dropped = isUuid(recordId ?? "")
    ? await dropTokens(parts, principalOfIdentity(call.identity), account.id, account.issuer, recordId as string)
    : null;
  if (dropped === null) return refuse("not_found", "There are no such tokens.");
  clearAuthorization(parts.memory, account.tenantId, tokenRef(principalOfIdentity(call.identity), account.id));
  if (dropped.tokens !== null) await giveUpTokens(parts, account, dropped.tokens);
  return { kind: "json", status: 204, body: null };
}

/** Revokes a client's token (RFC 7009). The answer does not reveal whether it existed. */
export async function revokeToken(
  parts: AuthorizationParts,
  call: Call,
  broker: Broker,
  { form }: BrokerRequest,
): Promise<BrokerAnswer | Refusal> {
  const presented = form.get("token");
  if (presented === null) return refuse("oauth_invalid_request", "token is missing.");
  const done: BrokerAnswer = { kind: "json", status: 200, body: {} };
  if (!looksLikeAccessToken(presented) && !looksLikeRefreshToken(presented)) {
    if (broker.at.revocationEndpoint === null) return done;
    const answer = await forwardForm(parts, call, broker.at.revocationEndpoint, form, {});
    if (isRefusal(answer)) return answer;
    // A successful revocation needs no body (RFC 7009).
    return answer.body === null && answer.status >= 200 && answer.status < 300 ? done : forwardedAnswer(answer);
  }
  const now = parts.clock.now();
  const claims = readAccessToken(parts.secrets, presented, now) ?? readRefreshToken(parts.secrets, presented, now);
  if (claims === null || claims.serverId !== broker.id) return done;
  const ended = await endGrant(parts, broker.tenantId, claims.grantId);
  if (ended !== null) clearAuthorization(parts.memory, broker.tenantId, ended.ref);
  if (ended?.dropped != null) await giveUpTokens(parts, broker, ended.dropped);
  return done;
}

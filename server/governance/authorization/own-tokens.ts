import { dropTokens, listTokens, type StoredTokens, tokenRef } from "../../directory/tools/oauth-tokens.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { endGrant } from "../../directory/tools/oauth-grants.ts";
import type { Call } from "../call.ts";
import { isRefusal } from "../surface.ts";
import { forgetAuthorization } from "./authorization-memory.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import type { BrokerAnswer, BrokerRequest } from "./broker-request.ts";
import { looksLikeAccessToken, looksLikeRefreshToken, readAccessToken, readRefreshToken } from "./gateway-tokens.ts";
import { passed, passForm } from "./pass-form.ts";
import { principalOfIdentity } from "./principal.ts";
import { authorizationServer } from "./protected-servers.ts";
import { revokeTokens } from "./token-endpoint.ts";
import { clientOfTokens } from "./upstream-clients.ts";

/** What the caller has of this issuer for this server: no token is shown. */
export async function ownTokens(parts: AuthorizationParts, call: Call, { id, at }: Broker): Promise<BrokerAnswer | Refusal> {
  if (call.identity === null) return refuse("unauthenticated", undefined, { headers: { "www-authenticate": "Bearer" } });
  const tokens = await listTokens(parts, principalOfIdentity(call.identity), id, at.issuer);
  return { kind: "json", status: 200, body: { tokens, total: tokens.length } };
}

/** Disconnects the caller: here at once, and at the issuer as far as it listens. */
export async function deleteOwnToken(parts: AuthorizationParts, call: Call, broker: Broker, { recordId }: BrokerRequest): Promise<BrokerAnswer | Refusal> {
  if (call.identity === null) return refuse("unauthenticated", undefined, { headers: { "www-authenticate": "Bearer" } });
  const dropped = isUuid(recordId ?? "") ? await dropTokens(parts, principalOfIdentity(call.identity), broker.id, broker.at.issuer, recordId as string) : null;
  if (dropped === null) return refuse("not_found", "There are no such tokens.");
  forgetAuthorization(parts.memory, broker.tenantId, tokenRef(principalOfIdentity(call.identity), broker.id));
  if (dropped.tokens !== null) await giveUp(parts, broker, dropped.tokens);
  return { kind: "json", status: 204, body: null };
}

/** A client gives up what it was given (RFC 7009). Whether there was anything is not told. */
export async function revoke(parts: AuthorizationParts, call: Call, broker: Broker, { form }: BrokerRequest): Promise<BrokerAnswer | Refusal> {
  const presented = form.get("token");
  if (presented === null) return refuse("oauth_invalid_request", "token is missing.");
  const done: BrokerAnswer = { kind: "json", status: 200, body: {} };
  if (!looksLikeAccessToken(presented) && !looksLikeRefreshToken(presented)) {
    if (broker.at.revocationEndpoint === null) return done;
    const answer = await passForm(parts, call, broker.at.revocationEndpoint, form, {});
    if (isRefusal(answer)) return answer;
    // Nothing more need be said to that (RFC 7009).
    return answer.body === null && answer.status >= 200 && answer.status < 300 ? done : passed(answer);
  }
  const now = parts.clock.now();
  const claims = readAccessToken(parts.secrets, presented, now) ?? readRefreshToken(parts.secrets, presented, now);
  if (claims === null || claims.serverId !== broker.id) return done;
  const ended = await endGrant(parts, broker.tenantId, claims.grantId);
  if (ended !== null) forgetAuthorization(parts.memory, broker.tenantId, ended.ref);
  if (ended?.dropped != null) await giveUp(parts, broker, ended.dropped);
  return done;
}

/** Tokens and the client they were given to are shown to their own issuer, through whichever broker they are given up. */
async function giveUp(parts: AuthorizationParts, broker: Broker, tokens: StoredTokens): Promise<void> {
  const client = await clientOfTokens(parts, broker.tenantId, broker.id, tokens);
  const at = client === null ? null : await authorizationServer(parts, tokens.issuer);
  if (client !== null && at !== null && !isRefusal(at)) await revokeTokens(parts.send, at, client, tokens);
}

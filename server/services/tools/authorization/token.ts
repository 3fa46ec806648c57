import { randomBytes } from "node:crypto";
import { storeTokens, type Principal, tokenRef } from "../../../directory/tools/oauth-tokens.ts";
import { endGrant, storeGrant, rotateRefreshToken } from "../../../directory/tools/oauth-grants.ts";
import { uuid } from "../../../kernel/ids.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import { challengeOf } from "../../../wire/oauth/pkce.ts";
import { identityOfHolder } from "../../../road/admission/admit.ts";
import type { Call } from "../../../road/call.ts";
import { clearAuthorization } from "./authorization-cache.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import type { BrokerAnswer, BrokerRequest } from "./broker-request.ts";
import { exchangeCode } from "./callback.ts";
import { openCode } from "./codes.ts";
import {
  ACCESS_SECONDS,
  makeAccessToken,
  looksLikeRefreshToken,
  readRefreshToken,
  refreshToken,
  type RefreshClaims,
} from "../../../road/admission/gateway-tokens.ts";
import { forwardedAnswer, forwardForm } from "./forward-form.ts";
import { giveUpTokens } from "./give-up-tokens.ts";
import { requestPrincipal } from "./holder.ts";
import { toolServerUrl } from "./protected-servers.ts";
import { callbackUrl } from "./upstream-clients.ts";

/** Serves the token endpoint: a client redeems a code or a refresh token. */
export async function exchangeToken(
  parts: AuthorizationParts,
  call: Call,
  broker: Broker,
  request: BrokerRequest,
): Promise<BrokerAnswer | Refusal> {
  const { form } = request;
  for (const name of form.keys())
    if (name !== "resource" && form.getAll(name).length > 1) return refuse("oauth_invalid_request", `${name} stands more than once.`);
  const grantType = form.get("grant_type");
  if (grantType !== "authorization_code" && grantType !== "refresh_token") return refuse("oauth_unsupported_grant_type");
  const clientId = form.get("client_id") ?? "";
  const refresh = form.get("refresh_token") ?? "";
  const code = grantType === "authorization_code" ? openCode(parts, broker, form.get("code") ?? "") : null;
  const isOurs = code !== null || clientId.startsWith("gwc_") || looksLikeRefreshToken(refresh) || /^https?:/.test(clientId);
  if (!isOurs) {
    const answer = await forwardForm(parts, call, broker.at.tokenEndpoint, form, { resource: broker.says.resource });
    return isRefusal(answer) ? answer : forwardedAnswer(answer);
  }
  const resource = toolServerUrl(broker.base, broker.id);
  if (form.getAll("resource").some((wanted) => wanted.replace(/\/$/, "") !== resource)) return refuse("oauth_invalid_target");
  if (grantType === "refresh_token") return refreshed(parts, call, broker, refresh, clientId);
  if (
    code === null ||
    code.wanted.clientHash !== sha256Hex(clientId) ||
    (form.get("redirect_uri") ?? code.wanted.redirectUri) !== code.wanted.redirectUri
  )
    return refuse("oauth_invalid_grant");
  const verifier = form.get("code_verifier") ?? "";
  if (!/^[\w.~-]{43,128}$/.test(verifier) || challengeOf(verifier) !== code.wanted.challenge)
    return refuse("oauth_invalid_grant", undefined, { reason: "code_verifier" });
  const holder = requestPrincipal(call);
  const { proven } = code;
  const who = proven ?? holder;
  if (who === null)
    return refuse("oauth_invalid_client", "Send the API key with this request, or enter it on the page where access is allowed.");
  if (proven !== null && holder !== null && (holder.type !== proven.type || holder.id !== proven.id || holder.tenantId !== proven.tenantId))
    return refuse("oauth_invalid_grant", undefined, { reason: "another principal" });
  const principal: Principal = { tenantId: who.tenantId, type: who.type, id: who.id };
  if (principal.tenantId !== broker.tenantId || (holder !== null && request.scope?.tools.has(broker.id) !== true))
    return refuse("tool_server_not_allowed");
  const exchanged = await exchangeCode(parts, broker, code, code.code);
  if ("invalid" in exchanged) return refuse("oauth_invalid_grant", undefined, { reason: `the issuer said ${exchanged.invalid}` });
  if (!("tokens" in exchanged)) return exchanged;
  const grantId = uuid();
  const nonce = newNonce();
  const claims: RefreshClaims = {
    serverId: broker.id,
    tenantId: principal.tenantId,
    holder: who.holder,
    grantId,
    nonce,
    clientHash: code.wanted.clientHash,
    scope: exchanged.tokens.scopes.join(" "),
  };
  const terms = {
    serverId: broker.id,
    issuer: broker.at.issuer,
    clientId: code.clientId,
    redirectUri: callbackUrl(broker.broker),
    resource: broker.says.resource,
  };
  await storeTokens(parts, principal, terms, exchanged.tokens, (trx, tokenId) =>
    storeGrant(trx, { id: grantId, tenant_id: principal.tenantId, token_id: tokenId, client_hash: claims.clientHash, nonce }),
  );
  clearAuthorization(parts.memory, principal.tenantId, tokenRef(principal, broker.id));
  await parts.discovery.learn(broker.tenantId, broker.id, exchanged.tokens.accessToken);
  return given(parts, claims);
}

async function refreshed(
  parts: AuthorizationParts,
  call: Call,
  broker: Broker,
  presented: string,
  clientId: string,
): Promise<BrokerAnswer | Refusal> {
  const claims = readRefreshToken(parts.secrets, presented, parts.clock.now());
  if (claims === null || claims.serverId !== broker.id || claims.clientHash !== sha256Hex(clientId) || claims.tenantId !== broker.tenantId)
    return refuse("oauth_invalid_grant");
  // If its holder is no longer admitted, fail now, so that the client learns that it must authorize again.
  const holder = await identityOfHolder(call, claims.holder, parts);
  if (isRefusal(holder))
    return refuse("oauth_invalid_grant", undefined, { reason: `whoever it was made for is not let in: ${holder.reason ?? holder.code}` });
  const nextNonce = newNonce();
  const turned = await rotateRefreshToken(parts, { tenantId: claims.tenantId, grantId: claims.grantId, nonce: claims.nonce, nextNonce });
  if (turned === "replayed") {
    // The token was replayed, so its current holder may be a thief: end the whole grant.
    const ended = await endGrant(parts, claims.tenantId, claims.grantId);
    if (ended !== null) clearAuthorization(parts.memory, claims.tenantId, ended.ref);
    if (ended?.dropped != null) await giveUpTokens(parts, broker, ended.dropped);
    return refuse("oauth_invalid_grant", undefined, { reason: "a refresh token was used twice: its grant has ended" });
  }
  if (turned === null) return refuse("oauth_invalid_grant", undefined, { reason: "the grant has ended" });
  return given(parts, { ...claims, nonce: nextNonce });
}

function given({ secrets, clock }: AuthorizationParts, claims: RefreshClaims): BrokerAnswer {
  const now = clock.now();
  const { serverId, holder, grantId, scope } = claims;
  return {
    kind: "json",
    status: 200,
    body: {
      access_token: makeAccessToken(secrets, { serverId, holder, grantId }, now),
      token_type: "Bearer",
      expires_in: ACCESS_SECONDS,
      refresh_token: refreshToken(secrets, claims, now),
      ...(scope === "" ? {} : { scope }),
    },
  };
}

function newNonce(): string {
  return randomBytes(16).toString("base64url");
}

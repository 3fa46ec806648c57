import { storeTokens, type Principal, tokenRef } from "../../../directory/tools/oauth-tokens.ts";
import { deleteRegistration } from "../../../directory/tools/oauth-upstream-clients.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import { clearAuthorization } from "./authorization-cache.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import { withQuery } from "./with-query.ts";
import type { Broker } from "./broker.ts";
import type { BrokerAnswer, BrokerRequest } from "./broker-request.ts";
import { sealCode } from "./codes.ts";
import { type Flow, expiredBrowserBinding, isSameBrowser, openFlow } from "./flow.ts";
import { requestTokens } from "./token-endpoint.ts";
import { callbackUrl, upstreamClient } from "./upstream-clients.ts";

/** Handles the issuer's redirect back to the gateway. */
export async function handleIssuerCallback(
  parts: AuthorizationParts,
  call: Call,
  broker: Broker,
  { query }: BrokerRequest,
): Promise<BrokerAnswer | Refusal> {
  const flow = openFlow(parts, broker, query.get("state") ?? "");
  if (flow === null || !isSameBrowser(call, flow.browser)) return refuse("oauth_answer_refused");
  const iss = query.get("iss");
  // A mix-up: the response comes from another or an unknown issuer, so nothing of it is shown or used.
  if (iss === null ? broker.at.namesItself : iss !== broker.at.issuer)
    return refuse("oauth_answer_refused", undefined, { reason: iss === null ? "iss_missing" : "iss_mismatch" });
  const cookie = expiredBrowserBinding(broker, flow.browser);
  const code = query.get("code");
  const { wanted } = flow;
  if (code === null || query.get("error") !== null) {
    const given = query.get("error") ?? "server_error";
    const error = /^[a-z_]{1,40}$/.test(given) ? given : "server_error";
    return wanted.kind === "client"
      ? { kind: "redirect", to: withQuery(wanted.redirectUri, { error, state: wanted.state, iss: broker.broker }), cookie }
      : { kind: "page", title: "Not connected", text: `The identity provider did not agree (${error}). You may close this page.`, cookie };
  }
  if (wanted.kind === "client")
    return {
      kind: "redirect",
      to: withQuery(wanted.redirectUri, {
        code: sealCode(parts, broker, { ...flow, wanted, code }),
        state: wanted.state,
        iss: broker.broker,
      }),
      cookie,
    };
  return connected(parts, broker, flow, wanted, code, cookie);
}

async function connected(
  parts: AuthorizationParts,
  broker: Broker,
  flow: Flow,
  wanted: Extract<Flow["wanted"], { kind: "connect" }>,
  code: string,
  cookie: string,
): Promise<BrokerAnswer | Refusal> {
  const exchanged = await exchangeCode(parts, broker, flow, code);
  if ("invalid" in exchanged)
    return {
      kind: "page",
      title: "Not connected",
      text: `The identity provider did not take its own code (${exchanged.invalid}). Begin again.`,
      cookie,
    };
  if (!("tokens" in exchanged)) return exchanged;
  const terms = {
    serverId: broker.id,
    issuer: broker.at.issuer,
    clientId: flow.clientId,
    redirectUri: callbackUrl(broker.broker),
    resource: broker.says.resource,
  };
  const principal: Principal = { tenantId: wanted.tenantId, type: wanted.type, id: wanted.id };
  await storeTokens(parts, principal, terms, exchanged.tokens);
  clearAuthorization(parts.memory, principal.tenantId, tokenRef(principal, broker.id));
  await parts.discovery.learn(broker.tenantId, broker.id, exchanged.tokens.accessToken);
  return {
    kind: "page",
    title: "Connected",
    text: `${broker.name} is connected. You may close this page and go on in your application.`,
    cookie,
  };
}

/** Exchanges the issuer's code for tokens, as the client to which it was issued. */
export async function exchangeCode(
  parts: AuthorizationParts,
  broker: Broker,
  flow: Pick<Flow, "clientId" | "verifier" | "scopes">,
  code: string,
) {
  const client = await upstreamClient(parts, broker.tenantId, broker.id, broker.at, broker.broker);
  if (isRefusal(client)) return client;
  if (client.clientId !== flow.clientId) return { invalid: "invalid_client" };
  const exchanged = await requestTokens(
    parts.send,
    broker.at,
    client,
    {
      grant_type: "authorization_code",
      code,
      redirect_uri: callbackUrl(broker.broker),
      code_verifier: flow.verifier,
      resource: broker.says.resource,
    },
    flow.scopes,
    parts.clock.now(),
  );
  // The secret expired or the issuer was reset: drop the registration, so that the next attempt registers anew.
  if ("invalid" in exchanged && exchanged.invalid === "invalid_client" && !client.isEntered)
    await deleteRegistration(parts, broker.id, broker.at.issuer, client.clientId);
  return exchanged;
}

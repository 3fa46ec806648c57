import { isRefusal, type Refusal } from "../../../kernel/errors.ts";
import { challengeOf, newVerifier } from "../../../wire/oauth/pkce.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { BrokerAnswer } from "./broker-request.ts";
import type { Broker } from "./broker.ts";
import { type ProvenPrincipal, type RequestedAuthorization, sealFlow } from "./flow.ts";
import { scopesToAsk } from "./scopes-to-ask.ts";
import { callbackUrl, upstreamClient } from "./upstream-clients.ts";
import { withQuery } from "./with-query.ts";

/** Redirects the person to the issuer, which sends them back with the sealed state. */
export async function toIssuer(
  parts: AuthorizationParts,
  broker: Broker,
  wanted: RequestedAuthorization,
  proven: ProvenPrincipal | null,
  browser: string,
): Promise<BrokerAnswer | Refusal> {
  const client = await upstreamClient(parts, broker.tenantId, broker.id, broker.at, broker.broker);
  if (isRefusal(client)) return client;
  const verifier = newVerifier();
  const scopes = scopesToAsk(broker, wanted.scope);
  const state = sealFlow(parts, broker, { wanted, proven, verifier, clientId: client.clientId, scopes, browser });
  const to = withQuery(broker.at.authorizationEndpoint, {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: callbackUrl(broker.broker),
    scope: scopes.length === 0 ? null : scopes.join(" "),
    state,
    code_challenge: challengeOf(verifier),
    code_challenge_method: "S256",
    resource: broker.says.resource,
    // Many issuers return a refresh token only after renewed consent.
    prompt: scopes.includes("offline_access") ? "consent" : null,
  });
  return { kind: "redirect", to };
}

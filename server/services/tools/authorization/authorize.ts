import { type Refusal, isRefusal, refuse } from "../../../kernel/errors.ts";
import { parseScopes } from "../../../wire/oauth/challenge.ts";
import { isChallenge } from "../../../wire/oauth/pkce.ts";
import type { Call } from "../../../road/call.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import type { BrokerAnswer, BrokerRequest } from "./broker-request.ts";
import { bridgedClient, mayRedirect } from "./clients.ts";
import { readConnectTicket } from "./connect-link.ts";
import { type RequestedAuthorization, newBrowserBinding, sealRequestedAuthorization } from "./flow.ts";
import { requestPrincipal } from "./holder.ts";
import { toolServerUrl } from "./protected-servers.ts";
import { straightToIssuer } from "./straight.ts";
import { toIssuer } from "./to-issuer.ts";
import { withQuery } from "./with-query.ts";
import { scopesToAsk } from "./scopes-to-ask.ts";

const MAX_STATE = 4_096;

/** Serves the authorization endpoint for a client of the broker, a connect link, or a client registered with the issuer itself. */
export async function authorize(
  parts: AuthorizationParts,
  call: Call,
  broker: Broker,
  request: BrokerRequest,
): Promise<BrokerAnswer | Refusal> {
  const { query } = request;
  for (const name of query.keys())
    if (name !== "resource" && query.getAll(name).length > 1) return refuse("oauth_invalid_request", `${name} stands more than once.`);
  const ticket = query.get("connect");
  if (ticket === "") return connectSender(parts, call, broker, request);
  if (ticket !== null) {
    const connect = readConnectTicket(parts, broker.id, broker.at.issuer, ticket);
    if (connect === null) return refuse("oauth_invalid_request", "This link is no longer good. Send the request again for a new one.");
    return consentQuestion(parts, broker, { kind: "connect", ...connect.principal, name: connect.name, scope: connect.scopes.join(" ") });
  }
  const clientId = query.get("client_id") ?? "";
  if (clientId === "") return refuse("oauth_invalid_request", "client_id is missing.");
  const client = await bridgedClient(parts, broker, call, clientId);
  if (client === null) return { kind: "redirect", to: straightToIssuer(broker, query) };
  if (isRefusal(client)) return client;
  const redirectUri = query.get("redirect_uri") ?? (client.redirectUris.length === 1 ? (client.redirectUris[0] as string) : "");
  // Errors must not be redirected before the redirect URI is known to be the client's.
  if (!mayRedirect(client, redirectUri)) return refuse("oauth_invalid_redirect_uri");
  const state = query.get("state");
  const back = (error: string, why: string): BrokerAnswer => ({
    kind: "redirect",
    to: withQuery(redirectUri, { error, error_description: why, state: state?.slice(0, MAX_STATE) ?? null, iss: broker.broker }),
  });
  if (state !== null && state.length > MAX_STATE) return back("invalid_request", "state is too long");
  if (query.get("response_type") !== "code") return back("unsupported_response_type", "response_type must be code");
  const challenge = query.get("code_challenge") ?? "";
  if (query.get("code_challenge_method") !== "S256" || !isChallenge(challenge))
    return back("invalid_request", "code_challenge with code_challenge_method S256 is required");
  const resource = toolServerUrl(broker.base, broker.id);
  if (query.getAll("resource").some((wanted) => wanted.replace(/\/$/, "") !== resource))
    return back("invalid_target", "resource is not the one this authorization server is for");
  return consentQuestion(parts, broker, {
    kind: "client",
    clientHash: client.hash,
    clientName: client.name,
    redirectUri,
    state,
    challenge,
    scope: parseScopes(query.get("scope")).join(" "),
  });
}

/**
 * Connects the sender of the request, who is already authenticated: portal pages do this for the signed-in user, who needs no further
 * consent.
 */
async function connectSender(
  parts: AuthorizationParts,
  call: Call,
  broker: Broker,
  { query, scope }: BrokerRequest,
): Promise<BrokerAnswer | Refusal> {
  const proven = requestPrincipal(call);
  if (proven === null || call.identity === null) return refuse("unauthenticated");
  if (scope?.tools.has(broker.id) !== true) return refuse("tool_server_not_allowed");
  const { cookie, browser } = newBrowserBinding(broker);
  const wanted: RequestedAuthorization = {
    kind: "connect",
    tenantId: proven.tenantId,
    type: proven.type,
    id: proven.id,
    name: call.identity.username ?? call.identity.credentialName,
    scope: parseScopes(query.get("scope")).join(" "),
  };
  const answer = await toIssuer(parts, broker, wanted, proven, browser);
  if (isRefusal(answer) || answer.kind !== "redirect") return answer;
  return { ...answer, cookie, ...(call.headers.get("accept")?.includes("application/json") === true ? { asData: true } : {}) };
}

export function consentQuestion(
  parts: AuthorizationParts,
  broker: Broker,
  wanted: RequestedAuthorization,
  problem: string | null = null,
): BrokerAnswer {
  const { cookie, browser } = newBrowserBinding(broker);
  const scopes = scopesToAsk(broker, wanted.scope);
  return {
    kind: "consent",
    asker: wanted.kind === "client" ? wanted.clientName : `Holders of the API key “${wanted.name}”`,
    returnsTo: wanted.kind === "client" ? hostOf(wanted.redirectUri) : null,
    serverName: broker.name,
    scopes,
    provider: new URL(broker.at.issuer).host,
    key: wanted.kind === "client" ? { name: null, required: false } : { name: wanted.name, required: true },
    request: sealRequestedAuthorization(parts, broker, wanted, browser),
    action: `${broker.broker}/authorize`,
    cookie,
    problem,
  };
}

function hostOf(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === "https:" || protocol === "http:" ? host : protocol;
}

import { storeRegistration, knownClient, type UpstreamClient } from "../../../directory/tools/oauth-upstream-clients.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { AuthorizationServer } from "../../../wire/oauth/metadata.ts";
import { requestJson } from "./request-json.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";

type Parts = Pick<AuthorizationParts, "db" | "secrets" | "clock" | "send" | "isOwnAddress">;

/** The broker's redirect URI, as in its metadata document and registrations. */
export function callbackUrl(broker: string): string {
  return `${broker}/callback`;
}

export function clientDocumentUrl(broker: string): string {
  return `${broker}/client-metadata.json`;
}

/** The gateway's client metadata, published as a document or used for registration. */
export function ownClientMetadata(broker: string, authMethod: string) {
  return {
    client_name: "Gatehouse",
    redirect_uris: [callbackUrl(broker)],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: authMethod,
    application_type: isLoopback(broker) ? "native" : "web",
  };
}

/**
 * The gateway's client identity for a server at an issuer: one configured by an administrator, else the URL of the client metadata document
 * if the issuer supports those, else a registration, which is made on first use.
 */
export async function upstreamClient(
  parts: Parts,
  tenantId: string,
  serverId: string,
  at: AuthorizationServer,
  broker: string,
): Promise<UpstreamClient | Refusal> {
  const known = await knownClient(parts, tenantId, serverId, at.issuer, callbackUrl(broker));
  if (known !== null) return known;
  if (at.clientDocuments && broker.startsWith("https://"))
    return { clientId: clientDocumentUrl(broker), clientSecret: null, authMethod: "none", isEntered: false };
  if (at.registrationEndpoint === null)
    return refuse(
      "upstream_auth_failed",
      "The authorization server lets no client register itself: an administrator has to enter a client for this tool server.",
    );
  // A registration persists at the issuer with its redirect URI, so a forged Host header must not get one in the gateway's name.
  if (!parts.isOwnAddress(new URL(broker).origin))
    return refuse(
      "upstream_auth_failed",
      "The gateway registers itself for addresses that are its own only: where this one is, an operator has to name it in GW_PUBLIC_URL.",
    );
  return register(parts, tenantId, serverId, at, broker);
}

/** The client to which tokens were issued; renewal and revocation must use the same one. Null if it is no longer known. */
export async function clientOfTokens(
  parts: Pick<Parts, "db" | "secrets">,
  tenantId: string,
  serverId: string,
  tokens: { readonly issuer: string; readonly clientId: string; readonly redirectUri: string },
): Promise<UpstreamClient | null> {
  const known = await knownClient(parts, tenantId, serverId, tokens.issuer, tokens.redirectUri);
  if (known?.clientId === tokens.clientId) return known;
  return tokens.clientId.startsWith("https://")
    ? { clientId: tokens.clientId, clientSecret: null, authMethod: "none", isEntered: false }
    : null;
}

async function register(
  parts: Parts,
  tenantId: string,
  serverId: string,
  at: AuthorizationServer,
  broker: string,
): Promise<UpstreamClient | Refusal> {
  const wanted =
    at.tokenAuthMethods.length === 0 || at.tokenAuthMethods.includes("client_secret_basic")
      ? "client_secret_basic"
      : at.tokenAuthMethods.includes("client_secret_post")
        ? "client_secret_post"
        : "none";
  const answer = await requestJson(parts.send, {
    url: at.registrationEndpoint as string,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ownClientMetadata(broker, wanted)),
  });
  if (isRefusal(answer)) return answer;
  const { body, status } = answer;
  if ((status !== 201 && status !== 200) || typeof body?.client_id !== "string")
    return refuse("upstream_auth_failed", "The authorization server did not let the gateway register.", {
      reason: `it answered ${status}${typeof body?.error === "string" ? ` ${body.error.slice(0, 100)}` : ""}`,
    });
  const secret = typeof body.client_secret === "string" ? body.client_secret : null;
  const authMethod =
    secret === null ? "none" : typeof body.token_endpoint_auth_method === "string" ? body.token_endpoint_auth_method : wanted;
  await storeRegistration(parts, tenantId, serverId, {
    issuer: at.issuer,
    redirectUri: callbackUrl(broker),
    clientId: body.client_id,
    clientSecret: secret,
    authMethod,
  });
  return (await knownClient(parts, tenantId, serverId, at.issuer, callbackUrl(broker))) ?? refuse("internal_error");
}

export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

import type { UpstreamClient } from "../../../directory/tools/oauth-upstream-clients.ts";
import type { IssuedTokens } from "../../../directory/tools/oauth-tokens.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { parseScopes } from "../../../wire/oauth/challenge.ts";
import type { AuthorizationServer } from "../../../wire/oauth/metadata.ts";
import { requestJson } from "./request-json.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };
/** Longer tokens are not accepted. */
const MAX_TOKEN = 32_768;
/** Upper bound of a token's lifetime (100 years): larger values mean "never expires" and could exceed what a date can hold. */
const MAX_SECONDS = 3_155_760_000;
/** Answers that ask to try again later and say nothing about what was presented. */
const LATER_STATUSES = new Set([408, 425, 429]);
const LATER_WORDS = new Set(["temporarily_unavailable", "server_error", "slow_down"]);
/** Error codes of RFC 6749, 5.2 and RFC 8707, 2. */
const TOKEN_ERRORS = new Set([
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
  "invalid_target",
]);

/**
 * Whether an error comes from the token endpoint itself: a code of the protocol or, with a status that the protocol uses, one of similar
 * form. Proxies and frameworks in front of it also send an `error`, such as "Forbidden" or "Not Found".
 */
function isTokenError(status: number, error: string): boolean {
  return TOKEN_ERRORS.has(error) || ([200, 400, 401].includes(status) && /^[a-z][a-z0-9_.-]*$/.test(error));
}

/** The result of a token request. `invalid`: the code, refresh token or client is no longer valid. */
export type TokenAnswer = { readonly tokens: IssuedTokens } | { readonly invalid: string } | Refusal;

/** Calls the token endpoint as the gateway's client. `now`: milliseconds since the epoch. */
export async function requestTokens(
  send: ToolServerSend,
  at: AuthorizationServer,
  client: UpstreamClient,
  form: Readonly<Record<string, string>>,
  requestedScopes: readonly string[],
  now: number,
): Promise<TokenAnswer> {
  const { headers, fields } = authenticated(client);
  const answer = await requestJson(send, {
    url: at.tokenEndpoint,
    method: "POST",
    headers: { ...FORM, ...headers },
    body: new URLSearchParams({ ...form, ...fields }).toString(),
  });
  if (isRefusal(answer)) return answer;
  const { status, body } = answer;
  const token = body?.access_token;
  // Some issuers report errors with status 200.
  if (status < 500 && typeof body?.error === "string" && token === undefined) {
    if (LATER_STATUSES.has(status) || LATER_WORDS.has(body.error))
      return refuse("upstream_error", "The authorization server asks to come again later.", {
        reason: `it answered ${status} ${body.error.slice(0, 100)}`,
      });
    if (isTokenError(status, body.error)) return { invalid: body.error.slice(0, 100) };
  }
  if (status !== 200 || body === null || typeof token !== "string" || token === "" || token.length > MAX_TOKEN)
    return refuse("upstream_invalid_response", "The authorization server gave no token.", { reason: `it answered ${status}` });
  if (typeof body.token_type !== "string" || body.token_type.toLowerCase() !== "bearer")
    return refuse("upstream_invalid_response", "The authorization server gave a token that is no bearer token.");
  const seconds = typeof body.expires_in === "number" && body.expires_in > 0 ? Math.min(body.expires_in, MAX_SECONDS) : null;
  return {
    tokens: {
      accessToken: token,
      refreshToken: typeof body.refresh_token === "string" && body.refresh_token.length <= MAX_TOKEN ? body.refresh_token : null,
      // If no scopes are reported, those requested were granted (RFC 6749, 5.1).
      scopes: typeof body.scope === "string" ? parseScopes(body.scope) : requestedScopes,
      expiresAt: seconds === null ? null : now + seconds * 1000,
    },
  };
}

/** Asks the issuer to revoke tokens. The outcome does not matter, because they are already deleted here. */
export async function revokeTokens(
  send: ToolServerSend,
  at: AuthorizationServer,
  client: UpstreamClient,
  tokens: Pick<IssuedTokens, "accessToken" | "refreshToken">,
): Promise<void> {
  if (at.revocationEndpoint === null) return;
  const { headers, fields } = authenticated(client);
  const [token, hint] = tokens.refreshToken === null ? [tokens.accessToken, "access_token"] : [tokens.refreshToken, "refresh_token"];
  await requestJson(send, {
    url: at.revocationEndpoint,
    method: "POST",
    headers: { ...FORM, ...headers },
    body: new URLSearchParams({ token, token_type_hint: hint, ...fields }).toString(),
  });
}

function authenticated({ clientId, clientSecret, authMethod }: UpstreamClient): {
  headers: Record<string, string>;
  fields: Record<string, string>;
} {
  if (clientSecret === null || authMethod === "none") return { headers: {}, fields: { client_id: clientId } };
  if (authMethod === "client_secret_post") return { headers: {}, fields: { client_id: clientId, client_secret: clientSecret } };
  const encoded = (text: string) => encodeURIComponent(text).replaceAll("%20", "+");
  return {
    headers: { authorization: `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString("base64")}` },
    fields: {},
  };
}

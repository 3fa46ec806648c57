import * as oidc from "openid-client";
import type { Outbound } from "../../runtime/outbound.ts";
import { boundedText } from "./issuer-documents.ts";
import { oidcFailure } from "./oidc-failure.ts";

/** What signing in by OpenID Connect needs to know of a provider. */
export interface OidcProvider {
  /** Changes with the record, so that nothing old is used. */
  readonly version: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
}

/** What a sign-in under way has to be met with when it comes back. */
export interface OidcChecks {
  readonly verifier: string;
  readonly nonce: string;
  readonly state: string;
}

export interface OidcSignIn {
  readonly claims: Record<string, unknown>;
  readonly idToken: string;
}

export interface OidcClient {
  /** Rejects, saying why, when the provider cannot be reached or is not what it says. */
  begin(provider: OidcProvider, redirectUri: string, state: string): Promise<{ address: string; verifier: string; nonce: string }>;
  /** The claims of the ID token, whose signature was verified. `again`: its key was unknown, and may not be at another try. */
  finish(provider: OidcProvider, callback: URL, checks: OidcChecks): Promise<OidcSignIn | "again">;
  /** Where a browser signs out at the provider, to come back to `returnTo`; null where it has no such place. */
  signOutAddress(provider: OidcProvider, idToken: string, returnTo: string): Promise<string | null>;
}

const TIMEOUT_SECONDS = 10;
const MAX_BYTES = 512 * 1024;
const MAX_CONFIGURATIONS = 500;
const CLOCK_TOLERANCE_SECONDS = 60;
const KEY_UNKNOWN = "OAUTH_KEY_SELECTION_FAILED";

/** `allowHttp`: whether providers may be spoken to in the clear, as upstreams on this machine are. */
export function oidcClient(outbound: Outbound, allowHttp: boolean): OidcClient {
  const configurations = new Map<string, Promise<oidc.Configuration>>();

  const guardedFetch: oidc.CustomFetch = async (url, options) => {
    const abort = new AbortController();
    options.signal?.addEventListener("abort", () => abort.abort(options.signal?.reason), { once: true });
    const body = options.body === undefined || options.body === null ? undefined : String(options.body);
    const response = await outbound.fetch(url, {
      method: options.method,
      headers: options.headers as Record<string, string>,
      abort,
      timeoutMs: TIMEOUT_SECONDS * 1000,
      ...(body === undefined ? {} : { body }),
    });
    return new Response(await boundedText(response, MAX_BYTES), { status: response.status, headers: response.headers });
  };

  const configurationOf = (provider: OidcProvider): Promise<oidc.Configuration> => {
    const known = configurations.get(provider.version);
    if (known !== undefined) return known;
    const [oldest] = configurations.keys();
    if (configurations.size >= MAX_CONFIGURATIONS && oldest !== undefined) configurations.delete(oldest);
    const made = oidc
      .discovery(
        new URL(provider.issuer),
        provider.clientId,
        { [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
        provider.clientSecret === null ? oidc.None() : secretAsTaken(provider.clientSecret),
        {
          // Without this the library trusts the connection in the place of the signature.
          execute: [oidc.enableNonRepudiationChecks, ...(allowHttp ? [oidc.allowInsecureRequests] : [])],
          [oidc.customFetch]: guardedFetch,
          timeout: TIMEOUT_SECONDS,
        },
      )
      .catch((error: unknown) => {
        configurations.delete(provider.version);
        throw oidcFailure(error);
      });
    configurations.set(provider.version, made);
    return made;
  };

  return {
    async begin(provider, redirectUri, state) {
      const configuration = await configurationOf(provider);
      const verifier = oidc.randomPKCECodeVerifier();
      const nonce = oidc.randomNonce();
      const address = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: [...new Set(["openid", ...provider.scopes])].join(" "),
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        nonce,
      });
      return { address: address.href, verifier, nonce };
    },
    async finish(provider, callback, { verifier, nonce, state }) {
      try {
        const tokens = await oidc.authorizationCodeGrant(await configurationOf(provider), callback, {
          pkceCodeVerifier: verifier,
          expectedNonce: nonce,
          expectedState: state,
          idTokenExpected: true,
        });
        return { claims: { ...tokens.claims() }, idToken: tokens.id_token ?? "" };
      } catch (error) {
        if (!hasCode(error, KEY_UNKNOWN)) throw oidcFailure(error);
        configurations.delete(provider.version);
        return "again";
      }
    },
    async signOutAddress(provider, idToken, returnTo) {
      const configuration = await configurationOf(provider);
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return oidc.buildEndSessionUrl(configuration, { id_token_hint: idToken, post_logout_redirect_uri: returnTo }).href;
    },
  };
}

/** In the form where the provider says that it takes it there, else in the header, which every provider has to take (RFC 6749). */
function secretAsTaken(secret: string): oidc.ClientAuth {
  const [inForm, inHeader] = [oidc.ClientSecretPost(secret), oidc.ClientSecretBasic(secret)];
  return (server, client, body, headers) => {
    const takesForm = server.token_endpoint_auth_methods_supported?.includes("client_secret_post") === true;
    return (takesForm ? inForm : inHeader)(server, client, body, headers);
  };
}

function hasCode(error: unknown, code: string): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if ((one as { code?: unknown }).code === code) return true;
  return false;
}

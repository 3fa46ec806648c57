import * as oidc from "openid-client";
import type { Outbound } from "../../runtime/outbound.ts";
import { CLOCK_TOLERANCE_SECONDS, IdTokenKeys } from "./id-token-keys.ts";
import { boundedText, issuerDocuments } from "./issuer-documents.ts";
import { oidcFailure } from "./oidc-failure.ts";

/** A provider's settings for signing in with OpenID Connect. */
export interface OidcProvider {
  /** Changes with the record, so that no outdated configuration is used. */
  readonly version: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
}

/** Values from the start of a sign-in that the callback is checked against. */
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
  /** Rejects with the reason if the provider is unreachable or its configuration is invalid. */
  begin(provider: OidcProvider, redirectUri: string, state: string): Promise<{ address: string; verifier: string; nonce: string }>;
  /** The claims of the verified ID token. `again`: its signing key was unknown; a retry fetches the keys anew. */
  finish(provider: OidcProvider, callback: URL, checks: OidcChecks): Promise<OidcSignIn | "again">;
  /** The URL where a browser signs out at the provider and returns to `returnTo`; null if the provider has none. */
  signOutAddress(provider: OidcProvider, idToken: string, returnTo: string): Promise<string | null>;
}

const TIMEOUT_SECONDS = 10;
const MAX_BYTES = 512 * 1024;
const MAX_CONFIGURATIONS = 500;

/** `allowHttp`: whether providers may use plain HTTP, for upstreams on this machine. */
export function oidcClient(outbound: Outbound, allowHttp: boolean): OidcClient {
  const configurations = new Map<string, Promise<oidc.Configuration>>();
  const keys = new WeakMap<oidc.Configuration, IdTokenKeys>();
  const fetchDocument = issuerDocuments(outbound);

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
        { execute: allowHttp ? [oidc.allowInsecureRequests] : [], [oidc.customFetch]: guardedFetch, timeout: TIMEOUT_SECONDS },
      )
      .catch((error: unknown) => {
        configurations.delete(provider.version);
        throw oidcFailure(error);
      });
    configurations.set(provider.version, made);
    return made;
  };

  /** The library would rely on TLS, or refuse a token that names no key while its provider publishes two. */
  const keysOf = (configuration: oidc.Configuration): IdTokenKeys => {
    const known = keys.get(configuration);
    if (known !== undefined) return known;
    const { jwks_uri: address = "" } = configuration.serverMetadata();
    const made = new IdTokenKeys(async () => {
      if (!allowHttp && !address.startsWith("https:")) throw new Error("the provider publishes no keys over https");
      return fetchDocument(address);
    });
    keys.set(configuration, made);
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
        const configuration = await configurationOf(provider);
        const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
          pkceCodeVerifier: verifier,
          expectedNonce: nonce,
          expectedState: state,
          idTokenExpected: true,
        });
        const idToken = tokens.id_token ?? "";
        if (await keysOf(configuration).signed(idToken)) return { claims: { ...tokens.claims() }, idToken };
        configurations.delete(provider.version);
        return "again";
      } catch (error) {
        throw oidcFailure(error);
      }
    },
    async signOutAddress(provider, idToken, returnTo) {
      const configuration = await configurationOf(provider);
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return oidc.buildEndSessionUrl(configuration, { id_token_hint: idToken, post_logout_redirect_uri: returnTo }).href;
    },
  };
}

/** Sends the secret in the form if the provider supports that, else in the header, which every provider must support (RFC 6749). */
function secretAsTaken(secret: string): oidc.ClientAuth {
  const [inForm, inHeader] = [oidc.ClientSecretPost(secret), oidc.ClientSecretBasic(secret)];
  return (server, client, body, headers) => {
    const takesForm = server.token_endpoint_auth_methods_supported?.includes("client_secret_post") === true;
    return (takesForm ? inForm : inHeader)(server, client, body, headers);
  };
}

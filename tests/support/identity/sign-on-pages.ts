import { expect } from "bun:test";
import { movedOn, signOnBrowser, type SignOnBrowser } from "./sign-on-browser.ts";
import type { SigningIssuer } from "./signing-issuer.ts";
import type { World } from "../world.ts";

/** The header the gateway's own pages send to begin or renew a session. */
export const OWN_PAGE = { "x-gw-session": "page" };

export type SignOnAudience = "portal" | "admin";

/** The provider's claims about a person. */
export interface SignOnClaims {
  readonly sub: string;
  readonly [name: string]: unknown;
}

export interface SignOnProviderRecord {
  readonly id: string;
  readonly audience: SignOnAudience;
}

export interface SignedInPage {
  readonly browser: SignOnBrowser;
  readonly token: string;
  /** Whether the token is still accepted. */
  works(): Promise<boolean>;
  /** Whether the page's session cookie yields another token. */
  renews(): Promise<boolean>;
}

/** The sign-in and session paths of a plane. */
export function signOnPlane({ gateway }: Pick<World, "gateway">, audience: SignOnAudience) {
  return audience === "portal"
    ? { base: `${gateway.runtimeUrl}/v1/portal/auth/sso`, session: "/v1/portal/auth/session", origin: gateway.runtimeUrl }
    : { base: `${gateway.adminUrl}/v1/admin-users/sso`, session: "/v1/admin-users/session", origin: gateway.adminUrl };
}

/** Creates a provider of the default tenant that creates accounts; for the console, its group `all` maps to viewers. */
export function makeSignOnProvider(
  world: World,
  issuer: SigningIssuer,
  audience: SignOnAudience,
  { oidc = {}, ...more }: { readonly oidc?: object; readonly [name: string]: unknown } = {},
): Promise<SignOnProviderRecord> {
  return world.admin.post("/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "oidc",
    audience,
    name: `Company ${audience} ${crypto.randomUUID()}`,
    create_accounts: true,
    oidc: { issuer: issuer.issuer, client_id: "gatehouse", ...oidc },
    client_secret: "a secret",
    group_mappings: audience === "admin" ? [{ group: "all", role: "viewer" }] : [],
    ...more,
  });
}

/** Signs in up to the final page; `claims` are added to those of a member of the group `all`. */
export async function arriveAtPage(world: World, issuer: SigningIssuer, provider: SignOnProviderRecord, claims: SignOnClaims) {
  const { base } = signOnPlane(world, provider.audience);
  issuer.answer = async () => ({
    access_token: "opaque",
    token_type: "Bearer",
    id_token: await issuer.sign({
      aud: "gatehouse",
      nonce: issuer.asked.at(-1)?.nonce ?? "",
      preferred_username: `${claims.sub}@example.com`,
      groups: ["all"],
      ...claims,
    }),
  });
  const browser = signOnBrowser();
  const page = await browser.follow(`${base}/${provider.id}/start`);
  const code = movedOn(await page.text())?.code ?? "";
  /** Exchanges the page's code for a token. */
  const exchange = () =>
    browser.go(`${base}/exchange`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }) });
  return { browser, exchange, status: page.status };
}

/** Signs in completely, up to a page session. */
export async function signInByProvider(
  world: World,
  issuer: SigningIssuer,
  provider: SignOnProviderRecord,
  claims: SignOnClaims,
): Promise<SignedInPage> {
  const { session, origin } = signOnPlane(world, provider.audience);
  const { browser, exchange } = await arriveAtPage(world, issuer, provider, claims);
  const exchanged = await exchange();
  const { access_token: token } = (await exchanged.json()) as { access_token: string };
  const begun = await browser.go(`${origin}${session}`, { method: "POST", headers: { ...OWN_PAGE, authorization: `Bearer ${token}` } });
  expect([exchanged.status, begun.status]).toEqual([200, 204]);
  const me = provider.audience === "portal" ? `${origin}/v1/portal/auth/profile` : `${origin}/v1/admin-users/me`;
  return {
    browser,
    token,
    works: async () => (await fetch(me, { headers: { authorization: `Bearer ${token}` } })).status === 200,
    renews: async () => (await browser.go(`${origin}${session}/renew`, { method: "POST", headers: OWN_PAGE })).status === 200,
  };
}

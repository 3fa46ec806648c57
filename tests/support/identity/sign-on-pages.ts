import { expect } from "bun:test";
import { movedOn, signOnBrowser, type SignOnBrowser } from "./sign-on-browser.ts";
import type { SigningIssuer } from "./signing-issuer.ts";
import type { World } from "../world.ts";

/** What the gateway's own pages send where a session is begun or goes on. */
export const OWN_PAGE = { "x-gw-session": "page" };

export type SignOnAudience = "portal" | "admin";

/** What the provider says of somebody. */
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
  /** Whether the token still opens what it is for. */
  works(): Promise<boolean>;
  /** Whether the page's cookie yields another token. */
  renews(): Promise<boolean>;
}

/** Where people of a plane sign in, and where their pages' sessions are. */
export function signOnPlane({ gateway }: Pick<World, "gateway">, audience: SignOnAudience) {
  return audience === "portal"
    ? { base: `${gateway.runtimeUrl}/v1/portal/auth/sso`, session: "/v1/portal/auth/session", origin: gateway.runtimeUrl }
    : { base: `${gateway.adminUrl}/v1/admin-users/sso`, session: "/v1/admin-users/session", origin: gateway.adminUrl };
}

/** A provider of the default tenant that makes accounts; at the console its group `all` are viewers. */
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

/** As far as the page that a sign-in ends on; `claims` beside those that make somebody of the group `all`. */
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
  /** Changes the code of the page for a token. */
  const exchange = () =>
    browser.go(`${base}/exchange`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }) });
  return { browser, exchange, status: page.status };
}

/** All the way to a page's session. */
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

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startSigningIssuer, type SigningIssuer } from "../support/identity/signing-issuer.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage } from "./chromium.ts";

/** Signing in through an identity provider in a real browser. */

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;
let issuer: SigningIssuer;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  issuer = await startSigningIssuer();
});
afterAll(async () => {
  await world?.end();
  await issuer?.stop();
});

/** An identity provider at which everyone who signs in is the same person. */
async function providerOf(audience: "portal" | "admin", name = `Company ${audience}`, person = "bob"): Promise<string> {
  issuer.answer = async () => ({
    access_token: "opaque",
    token_type: "Bearer",
    id_token: await issuer.sign({
      aud: "gatehouse",
      nonce: issuer.asked.at(-1)?.nonce ?? "",
      sub: person,
      preferred_username: `${person}@example.com`,
      groups: ["all"],
    }),
  });
  const { id } = await world.admin.post("/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "oidc",
    audience,
    name,
    create_accounts: true,
    oidc: { issuer: issuer.issuer, client_id: "gatehouse" },
    client_secret: "a secret",
    group_mappings: audience === "admin" ? [{ group: "all", role: "viewer" }] : [],
  });
  return id;
}

withBrowser("a person who arrives at the portal from an identity provider replaces whoever was signed in", async () => {
  const id = await providerOf("portal");
  const { page, context, problems } = await world.portalPage();
  await page.goto(`${world.gateway.runtimeUrl}/v1/portal/auth/sso/${id}/start?return_to=/portal/profile`);
  await page.getByRole("heading", { name: "bob@example.com", exact: true }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  // The cookie is Bob's too.
  await page.reload();
  await page.getByRole("heading", { name: "bob@example.com", exact: true }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a person who arrives at the console from an identity provider replaces whoever was signed in", async () => {
  const id = await providerOf("admin");
  const { page, context, problems } = await world.consolePage({ at: null });
  await page.goto(`${world.gateway.adminUrl}/v1/admin-users/sso/${id}/start`);
  await page.getByRole("button", { name: /bob@example\.com/ }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser.each([
  { plane: "portal", path: "portal/auth", page: "portal/profile", begin: "Set up", leave: "Sign out everywhere" },
  { plane: "admin", path: "admin-users", page: "console/account", begin: "Set it up", leave: "Sign out" },
] as const)("after a reload, somebody without a password is asked to sign in again to set up a second factor ($plane)", async (at) => {
  const name = `Second factor ${at.plane}`;
  const id = await providerOf(at.plane, name, "carol");
  const { page, context } = await watchedPage(world.browser);
  const origin = at.plane === "portal" ? world.gateway.runtimeUrl : world.gateway.adminUrl;
  await page.goto(`${origin}/v1/${at.path}/sso/${id}/start?return_to=/${at.page}`);
  const begin = page.getByRole("button", { name: at.begin, exact: true });
  await begin.waitFor();
  await page.reload();
  await begin.click();
  await page.getByRole("alert").getByText("Sign out, sign in again").waitFor();
  await page.getByRole("main").getByRole("button", { name: at.leave, exact: true }).last().click();
  await page.getByText(name).waitFor();
  await context.close();
});

withBrowser("a tenant without local passwords shows no password form, but a way to another tenant", async () => {
  const { admin } = world;
  const only = { id: "no-passwords", name: "No passwords" };
  await admin.post("/v1/admin/tenants", only);
  await admin.post("/v1/admin/identity-providers", {
    ...{ tenant_id: only.id, kind: "oidc", audience: "portal", name: "The company" },
    oidc: { issuer: issuer.issuer, client_id: "gatehouse" },
    client_secret: "a secret",
  });
  expect((await admin.request("PATCH", `/v1/admin/tenants/${only.id}`, { local_passwords: false })).status).toBe(200);
  const { page, context, problems } = await watchedPage(world.browser, { width: 320 });
  await page.goto(`${world.portal}/?tenant=${only.id}`);
  await page.getByText("Password sign-in is turned off.").waitFor();
  await page.getByRole("link", { name: "Sign in with The company" }).waitFor();
  expect([await page.getByLabel("Password").count(), await page.getByText("Create an account").count()]).toEqual([0, 0]);
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByLabel("Tenant").fill("default");
  await page.keyboard.press("Enter");
  await page.getByLabel("Password").waitFor();
  expect(new URL(page.url()).searchParams.get("tenant")).toBe("default");
  expect(problems).toEqual([]);
  await context.close();
});

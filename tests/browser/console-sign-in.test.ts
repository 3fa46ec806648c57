import { afterAll, beforeAll, expect, test } from "bun:test";
import { ADMIN_PASSWORD } from "../support/gateway.ts";
import { startSigningIssuer, type SigningIssuer } from "../support/identity/signing-issuer.ts";
import { PASSWORD } from "../support/worlds/portal.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage } from "./chromium.ts";

/** The console's sign-in page, for administrators of other tenants than the default one. */

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;
let issuer: SigningIssuer;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  issuer = await startSigningIssuer();
  const { admin } = world;
  for (const id of ["acme", "without"]) await admin.post("/v1/admin/tenants", { id, name: id, local_passwords: id !== "without" });
  await admin.post("/v1/admin/admin-users", { tenant_id: "acme", username: "admin", password: PASSWORD });
  await admin.post("/v1/admin/identity-providers", {
    ...{ tenant_id: "acme", kind: "oidc", audience: "admin", name: "Acme SSO", create_accounts: true },
    oidc: { issuer: issuer.issuer, client_id: "gatehouse" },
    client_secret: "a secret",
    group_mappings: [{ group: "all", role: "viewer" }],
  });
  issuer.answer = async () => ({
    access_token: "opaque",
    token_type: "Bearer",
    id_token: await issuer.sign({
      ...{ aud: "gatehouse", nonce: issuer.asked.at(-1)?.nonce ?? "", sub: "bob", groups: ["all"] },
      preferred_username: "bob@acme.example",
    }),
  });
});
afterAll(async () => {
  await world?.end();
  await issuer?.stop();
});

withBrowser("an administrator of another tenant finds its identity provider by the tenant's name or by a link", async () => {
  const { page, context, problems } = await watchedPage(world.browser, { width: 320 });
  await page.goto(`${world.console}/`);
  await page.getByLabel("Password").waitFor();
  expect(await page.getByRole("link", { name: /Acme/ }).count()).toBe(0);
  await page.getByText("Single sign-on of a tenant", { exact: true }).click();
  const chosen = page.getByLabel("Tenant with single sign-on");
  await chosen.fill("acme");
  await page.getByRole("button", { name: "Show its single sign-on" }).click();
  const offer = page.getByRole("link", { name: "Sign in with Acme SSO" });
  await offer.waitFor();
  expect(new URL(page.url()).searchParams.get("tenant")).toBe("acme");
  await page.reload();
  await offer.waitFor();
  expect(await chosen.inputValue()).toBe("acme");
  expect(await accessibilityFindings(page)).toEqual([]);
  await offer.click();
  await page.getByRole("button", { name: /bob@acme\.example/ }).waitFor();

  await page.goto(`${world.console}/account`);
  await page.getByRole("button", { name: "Set it up" }).waitFor();
  expect(await page.getByLabel("Current password").count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a tenant without an identity provider and one that does not exist look the same", async () => {
  const { page, context, problems } = await watchedPage(world.browser);
  const shown = [];
  for (const tenant of ["without", "nowhere"]) {
    await page.goto(`${world.console}/?tenant=${tenant}`);
    await page.getByText("No single sign-on is offered for this tenant.").waitFor();
    shown.push((await page.locator("main").innerText()).replaceAll(tenant, ""));
  }
  expect(shown[0]).toBe(shown[1] as string);
  const answers = ["without", "nowhere"].map((tenant) => fetch(`${world.gateway.adminUrl}/v1/admin-users/sso?tenant_id=${tenant}`));
  const [one, other] = await Promise.all(answers.map(async (answer) => (await answer).json()));
  expect(one).toEqual(other);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a system administrator signs in also at the address of a tenant", async () => {
  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(`${world.console}/?tenant=acme`);
  await signInOn(page, "admin", ADMIN_PASSWORD);
  await page.getByRole("combobox", { name: "Tenant" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

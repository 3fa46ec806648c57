import { afterAll, beforeAll, expect, test } from "bun:test";
import { scimClient } from "../support/identity/scim.ts";
import { startSigningIssuer, type SigningIssuer } from "../support/identity/signing-issuer.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

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

withBrowser("the form of an identity provider has only the fields of its kind", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/manage/sign-on/new" });
  const form = page.locator("form", { has: page.getByRole("button", { name: "Create identity provider" }) });
  await form.getByLabel("Name", { exact: true }).fill("By form");
  expect(await form.getByLabel("Issuer").count()).toBe(0);
  await form.getByLabel("Kind").selectOption("saml");
  await form.getByLabel("Entity ID").waitFor();
  expect(await form.getByLabel("Client secret").count()).toBe(0);
  await form.getByLabel("Entity ID").fill("left behind");
  await form.getByLabel("Kind").selectOption("oidc");
  await form.getByLabel("Audience").selectOption("portal");
  await form.getByLabel("Issuer").fill(issuer.issuer);
  await form.getByLabel("Client ID").fill("gatehouse");
  await form.getByLabel("Client secret").fill("from the provider");
  await form.getByRole("button", { name: "Create identity provider" }).click();
  await page.getByRole("heading", { name: "By form", level: 1 }).waitFor();
  await page.getByLabel("Issuer").waitFor();
  expect(await page.getByLabel("Entity ID").count()).toBe(0);
  const { identity_providers: listed } = await world.admin.get("/v1/admin/identity-providers?tenant_id=default");
  expect(listed.find(({ name }: { name: string }) => name === "By form")).toMatchObject({
    kind: "oidc",
    saml: null,
    oidc: { issuer: issuer.issuer, client_id: "gatehouse" },
  });
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an identity provider's mapping is tested on claims, and a sign-in is tested without signing in", async () => {
  const group = await world.admin.post("/v1/admin/end-user-groups", { tenant_id: "default", name: "engineers" });
  const { id } = await world.admin.post("/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "oidc",
    name: "Company",
    audience: "portal",
    oidc: { issuer: issuer.issuer, client_id: "gatehouse" },
    client_secret: "a secret",
    create_accounts: true,
    required_group: "staff",
    group_mappings: [{ group: "eng", end_user_group_id: group.id }],
  });
  const { page, context, problems } = await world.consolePage({ at: `/manage/sign-on/${id}` });
  const enter = page.locator("section", { hasText: "What to enter at the provider" });
  await enter.getByText(`/v1/portal/auth/sso/${id}/callback`).waitFor();

  const preview = page.locator("section", { has: page.getByRole("heading", { name: "What claims would become" }) });
  await preview.getByRole("button", { name: "Show what they would become" }).click();
  await preview.getByText("would be let in").waitFor();
  await preview.getByText("engineers", { exact: true }).waitFor();
  await preview.getByLabel("Claims").fill('{"sub":"1","groups":["<img src=x onerror=alert(1)>"]}');
  await preview.getByRole("button", { name: "Show what they would become" }).click();
  await preview.getByText("would be refused").waitFor();
  await preview.getByText("<img src=x onerror=alert(1)>", { exact: true }).waitFor();
  await preview.getByLabel("Claims").fill("no claims");
  await preview.getByRole("button", { name: "Show what they would become" }).click();
  await preview.getByRole("alert").getByText("This is not JSON of claims").waitFor();

  await page.getByRole("button", { name: "Prepare a test sign-in" }).click();
  const link = page.getByRole("link", { name: "Open it in another tab" });
  expect(await link.getAttribute("href")).toStartWith(`${world.gateway.runtimeUrl}/v1/portal/auth/sso/${id}/start?test=`);
  expect(await accessibilityFindings(page)).toEqual([]);
  // The link leads to the provider, which is really another host.
  const sent = await fetch((await link.getAttribute("href")) ?? "", { redirect: "manual" });
  expect([sent.status, sent.headers.get("location")?.startsWith(issuer.issuer)]).toEqual([302, true]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the provisioning log is filtered by outcome, and each entry gives the reason of a failure", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/provisioning-log", theme: "dark" });
  await page.getByText("No directory has changed anything yet").waitFor();
  const { token, id } = await world.admin.post("/v1/admin/scim-tokens", { tenant_id: "default", name: "ours", directory: "company" });
  const scim = scimClient(world.gateway.adminUrl, token);
  const user = { schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"], userName: "grace@example.com", externalId: "g-1", active: true };
  const made = await scim.send("POST", "/Users", user);
  expect(made.status).toBe(201);
  expect((await scim.send("POST", "/Users", user)).status).toBe(409);

  await page.goto(`${world.console}/manage/scim-tokens/${id}`);
  await page.getByText(`${world.gateway.adminUrl}/scim/v2`, { exact: true }).waitFor();
  await page.getByRole("link", { name: "What directories changed" }).click();
  const table = page.getByRole("table", { name: "What directories did" });
  await table.getByText("created", { exact: true }).waitFor();
  await page.getByRole("search").getByLabel("Outcome").selectOption("conflict");
  await page.getByText("1 entries").waitFor();
  expect(new URL(page.url()).searchParams.get("outcome")).toBe("conflict");
  await table.getByText("conflict", { exact: true }).click();
  await page.getByRole("heading", { name: "POST, conflict" }).waitFor();
  await page.getByRole("search").getByLabel("Outcome").selectOption("created");
  await table.getByText("created", { exact: true }).click();
  await page.getByRole("link", { name: made.body.id }).click();
  await page.getByRole("heading", { name: "grace@example.com", level: 1 }).waitFor();
  await page.goto(`${world.console}/provisioning-log?directory=another`);
  await page.getByText("Nothing of that kind").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a person's linked identities are added and removed on their page, and shown on the provider's", async () => {
  const { id } = await world.admin.post("/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "oidc",
    name: "Where Ada is known",
    audience: "portal",
    oidc: { issuer: issuer.issuer, client_id: "gatehouse" },
  });
  const { user } = await world.admin.post("/v1/admin/end-users", { tenant_id: "default", username: "ada.known", password: "long enough" });
  const subject = "tenant/0a1b & <b>#ä%2F";
  const { page, context, problems } = await world.consolePage({ at: null });
  const panel = page.locator("section", { has: page.getByRole("heading", { name: "Linked identities" }) });
  await page.goto(`${world.console}/manage/people/${user.id}`);
  await panel.getByText("ada.known signs in by no identity provider.").waitFor();
  await panel.getByLabel("Identity provider").selectOption("Where Ada is known");
  await panel.getByLabel("Known there by").fill(subject);
  await panel.getByRole("button", { name: "Link it" }).click();
  await panel.getByText("never signed in by it").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await panel.getByLabel("Known there by").fill(subject);
  await panel.getByRole("button", { name: "Link it" }).click();
  await panel.getByText("This subject signs in as an account already").waitFor();

  await panel.getByRole("link", { name: "Where Ada is known" }).click();
  const those = page.locator("section", { has: page.getByRole("heading", { name: "Who signs in by it" }) });
  await those.getByText(subject, { exact: true }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await those.getByRole("link", { name: "ada.known" }).click();
  await panel.getByRole("button", { name: "Unlink" }).click();
  await page.getByRole("dialog", { name: "Unlink ada.known from Where Ada is known?" }).getByRole("button", { name: "Unlink" }).click();
  await panel.getByText("ada.known signs in by no identity provider.").waitFor();
  expect((await world.admin.get(`/v1/admin/identity-providers/${id}/identities`)).total).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

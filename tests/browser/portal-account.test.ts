import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;
let groupId: string;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld();
  groupId = ((await world.admin.get("/v1/admin/resource-groups")) as any).resource_groups[0].id;
});
afterAll(() => world?.end());

withBrowser("a person whose password was set by somebody else sees nothing before changing it", async () => {
  const password = "chosen by somebody else";
  await world.admin.post("/v1/admin/end-users", {
    tenant_id: "default",
    username: "handed-out",
    password,
    must_change_password: true,
    primary_group_id: groupId,
  });
  const { page, context, problems } = await watchedPage(world.browser, { width: 320, theme: "dark" });
  await page.goto(`${world.portal}/profile`);
  await page.getByLabel("User name").fill("handed-out");
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Choose a password" }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.reload();
  await page.getByRole("heading", { name: "Choose a password" }).waitFor();
  await page.getByLabel("Current password").fill(password);
  await page.getByLabel("New password").fill(password);
  await page.keyboard.press("Enter");
  await page.getByText("must be another one").first().waitFor();
  await page.getByLabel("New password").fill("chosen by myself alone");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Profile" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a personal key is created, shown once, used and revoked by keyboard alone", async () => {
  await world.admin.request("PATCH", "/v1/admin/tenants/default", { portal_api_keys: "on" });
  const { page, context, problems } = await world.portalPage({ at: "/profile", width: 320 });
  await page.getByLabel("Key name").focus();
  await page.keyboard.type("<b>my script</b>");
  await page.keyboard.press("Enter");
  await page.getByText("Copy this now").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  const key = await page.locator("code", { hasText: /^sk_gw_api_/ }).innerText();
  const models = () => fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { authorization: `Bearer ${key}` } });
  expect((await models()).status).toBe(200);
  await page.getByRole("button", { name: "Revoke <b>my script</b>" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Revoked", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("Revoked", { exact: true }).waitFor();
  expect(await page.content()).not.toContain(key);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("usage is shown against limits in words and figures, not by colour alone, also when used up", async () => {
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, {
    llm_global_limits: { requests: { daily_limit: 0 }, budget: { daily_limit_usd: 3 } },
  });
  const { llm_models: models } = await world.admin.get(`/v1/admin/resource-groups/${groupId}/llm-models`);
  const { id: echo } = models.find(({ name }: { name: string }) => name === "echo");
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-models/${echo}/limits`, {
    limits: { tokens: { daily_limit: 70 } },
  });
  const { page, context, problems } = await world.portalPage({ at: "/alerts", theme: "dark" });
  await page.getByText("Reached: calls are refused").waitFor();
  await page.getByRole("listitem").filter({ hasText: "of 70" }).getByText("echo", { exact: true }).waitFor();
  await page.getByRole("meter", { name: /^Tokens today of echo: / }).waitFor();
  await page.getByText("$0 of $3").or(page.getByText("$0.00 of $3.00")).waitFor();
  const refused = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": world.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "x" }] }),
  });
  expect(refused.status).toBe(429);
  await page.getByText("Critical", { exact: true }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  // An action that failed shows its error where it was started.
  const writes = /\/v1\/portal\/(?:alerts|notifications)\/.*(?:acknowledge|read)$/;
  await page.route(writes, (route) => route.fulfill({ status: 409, json: { error: "Not now, says the gateway." } }));
  const told = page.getByRole("alert").getByText("Not now, says the gateway.");
  await page.getByRole("button", { name: "Acknowledge" }).first().click();
  await told.waitFor();
  await page.goto(`${world.portal}/notifications`);
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await told.waitFor();
  await page.unroute(writes);
  await page.goto(`${world.portal}/alerts`);
  const button = page.getByRole("button", { name: "Acknowledge" });
  await button.first().click();
  await page
    .getByText(/^Acknowledged on /)
    .first()
    .waitFor();
  expect(await button.count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("LI");
  await page.reload();
  await page
    .getByText(/^Acknowledged on /)
    .first()
    .waitFor();
  expect(await button.count()).toBe(0);
  // What the gateway reports is shown in the reader's language.
  await page.evaluate(() => localStorage.setItem("gatehouse.language", "de"));
  await page.reload();
  await page.getByRole("heading", { name: "Anfragen je Tag: aufgebraucht" }).waitFor();
  await page.goto(`${world.portal}/notifications`);
  await page.getByRole("heading", { name: "Anfragen je Tag: aufgebraucht" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a person who signs in after another on the same page sees nothing of theirs", async () => {
  await world.admin.post("/v1/admin/end-users", {
    tenant_id: "default",
    username: "next",
    password: "the next person",
    primary_group_id: groupId,
  });
  const { page, context, problems } = await world.portalPage();
  await page.getByRole("navigation").getByRole("link", { name: "Files" }).click();
  await page
    .getByLabel("File to upload")
    .setInputFiles({ name: "of-the-one-before.txt", mimeType: "text/plain", buffer: Buffer.from("private") });
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await page.getByText("of-the-one-before.txt").waitFor();
  await page.getByRole("button", { name: /^Your account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out everywhere" }).click();
  await page.getByLabel("User name").waitFor();
  await signInOn(page, "next", "the next person");
  await page.getByText("No files yet").waitFor();
  expect(await page.getByText("of-the-one-before.txt").count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("whoever signs in again after their session ended finds their unsaved input, and another person does not", async () => {
  const people = ["long-there", "after-them"].map((username) => ({ username, password: "a first password", primary_group_id: groupId }));
  const [account] = await Promise.all(people.map((person) => world.admin.post("/v1/admin/end-users", { tenant_id: "default", ...person })));
  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(`${world.portal}/profile`);
  await signInOn(page, "long-there", "a first password");
  const name = page.getByLabel("Display name");
  await name.fill("Not saved yet");
  const end = async (password: string) => {
    // A new password ends the existing sessions.
    expect((await world.admin.request("PATCH", `/v1/admin/end-users/${account.user.id}`, { password })).status).toBe(200);
    await page.getByText("Your session has ended. Sign in again to continue.").waitFor();
    expect(await name.isVisible()).toBe(false);
  };
  await end("a second password");
  await signInOn(page, "long-there", "a second password");
  await name.waitFor();
  expect(await name.inputValue()).toBe("Not saved yet");
  await end("a third password");
  await signInOn(page, "after-them", "a first password");
  await name.waitFor();
  expect(await name.inputValue()).toBe("");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("secrets shown once can be copied without the clipboard API, as over plain HTTP", async () => {
  const { page, context, problems } = await world.portalPage({ at: null });
  await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, "clipboard"));
  await page.addInitScript(() =>
    document.addEventListener("copy", () => {
      const { value } = document.activeElement as HTMLTextAreaElement;
      document.documentElement.dataset["copied"] = value;
    }),
  );
  await page.goto(`${world.portal}/profile`);
  await page.getByRole("button", { name: "Set up" }).click();
  // The page's token is no longer the one of the sign-in.
  const password = page.getByRole("textbox", { name: "Current password" }).and(page.locator("[name=password]"));
  await password.fill(world.person.password);
  await page.getByRole("button", { name: "Set up" }).click();
  const codes = page.getByRole("listitem").filter({ hasText: /^[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}$/ });
  await codes.first().waitFor();
  const shown = await codes.allInnerTexts();
  expect(shown).toHaveLength(10);
  const setup = page.locator("section").filter({ has: page.getByRole("heading", { name: "Two-factor sign-in" }) });
  await setup.getByRole("button", { name: "Copy", exact: true }).click();
  await setup.getByRole("button", { name: "Copied", exact: true }).waitFor();
  expect(await page.evaluate(() => document.documentElement.dataset["copied"])).toBe(shown.join("\n"));
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a display name and email are removed by emptying their fields", async () => {
  const { page, context, problems } = await world.portalPage({ at: "/profile" });
  const fields = [page.getByLabel("Display name"), page.getByLabel("Email")] as const;
  const saved = async (name: string, email: string) => {
    await fields[0].fill(name);
    await fields[1].fill(email);
    const answered = page.waitForResponse((response) => response.request().method() === "PATCH" && response.ok());
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await answered;
    await page.reload();
    await fields[0].waitFor();
    return Promise.all(fields.map((field) => field.inputValue()));
  };
  expect(await saved("Ada", "ada@example.org")).toEqual(["Ada", "ada@example.org"]);
  expect(await saved("", "")).toEqual(["", ""]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a primary group is explored by keyboard with what it gives access to, and changes only when saved", async () => {
  const { admin } = world;
  const { user } = await admin.post("/v1/admin/end-users", { tenant_id: "default", username: "chooser", password: "long enough" });
  const others = [];
  for (const name of ["b-team", "c-team"]) others.push((await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name })).id);
  const people = { tenant_id: "default", name: "choosers", initial_member_ids: [user.id] };
  const { id: choosers } = await admin.post("/v1/admin/end-user-groups", people);
  for (const id of [groupId, ...others])
    await admin.post(`/v1/admin/end-user-groups/${choosers}/resource-groups`, { resource_group_ids: [id] });
  const { page, context, problems } = await watchedPage(world.browser, { width: 320 });
  const sent: unknown[] = [];
  page.on("request", (request) => void (request.method() === "PATCH" && sent.push(request.postDataJSON())));
  await page.goto(`${world.portal}/profile`);
  await signInOn(page, "chooser", "long enough");
  const select = page.getByLabel("Primary group");
  await page.getByText(/^Models: .*echo/).waitFor();
  await select.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.getByText("Models: none").waitFor();
  expect(await select.inputValue()).toBe(others[1]);
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("SELECT");
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(sent).toEqual([]);
  await page.getByRole("button", { name: "Make it my primary group" }).click();
  await page.getByText("Saved.").waitFor();
  expect(sent).toEqual([{ group_id: others[1] }]);
  await page.reload();
  await page.getByText("Models: none").waitFor();
  expect(await select.inputValue()).toBe(others[1]);
  expect(problems).toEqual([]);
  await context.close();
});

/** Signs in as another tab would, which shares the cookie. */
async function signInBeside(page: Page, person: { readonly username: string; readonly password: string }): Promise<void> {
  await page.evaluate(async (body) => {
    const json = { "content-type": "application/json" };
    const login = await fetch("/v1/portal/auth/login", { method: "POST", headers: json, body: JSON.stringify(body) });
    const { access_token: token } = (await login.json()) as { access_token: string };
    await fetch("/v1/portal/auth/session", { method: "POST", headers: { "x-gw-session": "page", authorization: `Bearer ${token}` } });
  }, person);
}

withBrowser("the tenant named at a sign-in applies to that person only", async () => {
  const elsewhere = { username: "elsewhere", password: "somebody of another house" };
  const here = { username: "at-home", password: "somebody of this house" };
  await world.admin.post("/v1/admin/tenants", { id: "another-house", name: "Another house" });
  const group = { tenant_id: "another-house", name: "readers", display_name: "Readers", group_type: "team" };
  const { id } = (await world.admin.post("/v1/admin/resource-groups", group)) as { id: string };
  await world.admin.post("/v1/admin/end-users", { tenant_id: "another-house", ...elsewhere, primary_group_id: id });
  await world.admin.post("/v1/admin/end-users", { tenant_id: "default", ...here, primary_group_id: groupId });
  const { page, context, problems } = await watchedPage(world.browser);
  await page.clock.install();
  await page.goto(`${world.portal}/profile?tenant=another-house`);
  await page.getByLabel("User name").fill(elsewhere.username);
  await page.getByLabel("Password").fill(elsewhere.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "elsewhere", exact: true }).waitFor();
  await signInBeside(page, here);
  await page.clock.fastForward("48:00:00");
  await page.getByLabel("Display name").fill("typed by the first");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("heading", { name: "at-home", exact: true }).waitFor();
  await page.getByLabel("Display name").fill("At home");
  const saved = page.waitForResponse((response) => response.request().method() === "PATCH");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  expect((await saved).status()).toBe(200);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a sign-in of another person in a second tab shows that person in the first, without the former's data", async () => {
  const other = { username: "beside", password: "somebody at the same desk" };
  await world.admin.post("/v1/admin/end-users", { tenant_id: "default", ...other, primary_group_id: groupId });
  const { page, context, problems } = await world.portalPage({ at: null });
  await page.clock.install();
  await page.goto(`${world.portal}/profile`);
  await page.getByRole("heading", { name: world.person.username, exact: true }).waitFor();
  const draft = page.getByLabel("Display name");
  await draft.fill("typed by the first");
  await signInBeside(page, other);
  await page.clock.fastForward("48:00:00");
  const sent: string[] = [];
  page.on("request", (request) => void (request.method() === "PATCH" && sent.push(request.url())));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("heading", { name: "beside", exact: true }).waitFor();
  expect(await draft.inputValue()).toBe("");
  expect(sent).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a sign-in in one tab signs in the other tabs", async () => {
  const { page, context, problems } = await watchedPage(world.browser);
  const second = await context.newPage();
  for (const tab of [page, second]) await tab.goto(`${world.portal}/profile`);
  await second.getByRole("button", { name: "Sign in" }).waitFor();
  await signInOn(page, world.person.username, world.person.password);
  await second.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await second.getByRole("heading", { name: "Profile" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

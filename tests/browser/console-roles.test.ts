import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { ADMIN_PASSWORD } from "../support/gateway.ts";
import { signIn } from "../support/worlds/admin.ts";
import { newPerson } from "../support/worlds/portal.ts";
import { until } from "../support/until.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage } from "./chromium.ts";

/** What the console offers to administrators who may do some things, but not to every record. */

const withBrowser = test.skipIf(chromiumPath() === null);
const tenant = { tenant_id: "default" };
let world: BrowserWorld;
let owner: string;
const accounts = new Map<string, string>();

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld();
  for (const role of ["developer", "compliance", "admin", "owner"])
    accounts.set(
      role,
      (await world.admin.post("/v1/admin/admin-users", { ...tenant, username: `one-${role}`, password: ADMIN_PASSWORD, role })).id,
    );
  owner = accounts.get("owner") ?? "";
});
afterAll(() => world?.end());

async function consoleOf(role: string, at: string | null = null) {
  const account = { ...tenant, username: `one-${role}`, password: ADMIN_PASSWORD };
  return world.consolePage({ at, by: await signIn(world.gateway.adminUrl, account, "tenant") });
}

const panel = (page: Page, title: string): Locator =>
  page.locator("section").filter({ has: page.getByRole("heading", { name: title, exact: true }) });

async function membersOfNewKey(page: Page): Promise<string[]> {
  await page.goto(`${world.console}/manage/api-keys/new`);
  await page.locator("form summary").first().click();
  await page.getByLabel("Scope", { exact: true }).selectOption("user");
  return page.locator("form label").allInnerTexts();
}

withBrowser("a developer rotates a group's key, and is told why not a person's; a new key takes no person", async () => {
  const { id: group } = await world.admin.post("/v1/admin/resource-groups", { ...tenant, name: "of keys" });
  const person = await newPerson(world.gateway.runtimeUrl as string, "key-holder");
  await world.admin.request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: group });
  const make = async (body: object) => (await world.admin.post(`/v1/admin/resource-groups/${group}/api-keys`, body)).id as string;
  const [ofGroup, ofPerson] = [
    await make({ name: "of the group" }),
    await make({ name: "of the person", scope: "user", end_user_id: person.id }),
  ];
  const { page, context, problems } = await consoleOf("developer");
  await page.goto(`${world.console}/manage/api-keys/${ofGroup}`);
  await page.getByRole("button", { name: "Rotate key" }).waitFor();
  await page.goto(`${world.console}/manage/api-keys/${ofPerson}`);
  await panel(page, "Rotate key").getByText("Rotating it needs the permission users:write").waitFor();
  expect(await page.getByRole("button", { name: "Rotate key" }).count()).toBe(0);
  expect(await membersOfNewKey(page)).not.toContain("End user");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a developer reads audit rows, and is not offered to verify their chain", async () => {
  const called = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { authorization: `Bearer ${world.apiKey}` } });
  const row = called.headers.get("x-request-id") ?? "";
  const listed = () => world.admin.post("/v1/admin/proxy-logs/query", { filters: { id: row } });
  await until(listed, ({ rows }) => rows.length === 1);
  const { page, context, problems } = await consoleOf("developer");
  await page.goto(`${world.console}/audit?row=${row}`);
  await page.getByRole("button", { name: "Next in chain" }).waitFor();
  expect(await page.getByRole("button", { name: /^Verify/ }).count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a developer is not led to the form of a record that they may not create", async () => {
  const { page, context, problems } = await consoleOf("developer", "/");
  await page.getByText("Set a guardrail", { exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Set a guardrail" }).count()).toBe(0);
  await page.getByRole("link", { name: "Name a provider" }).waitFor();
  await page.goto(`${world.console}/manage/guardrails/new`);
  await page.getByText("Your role cannot create this.").waitFor();
  expect(await page.getByRole("button", { name: /^Create / }).count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an administrator who is no owner may not change one, and nobody deletes or resets themselves", async () => {
  const { page, context, problems } = await consoleOf("admin");
  await page.goto(`${world.console}/manage/administrators/${owner}`);
  await page.getByText("Only an owner can manage the account of one.").first().waitFor();
  const names = ["Save", "Delete", "Reset two-factor sign-in"];
  const offered = async () =>
    (
      await Promise.all(names.map(async (name) => ((await page.getByRole("button", { name, exact: true }).count()) > 0 ? [name] : [])))
    ).flat();
  expect(await offered()).toEqual([]);
  await page.goto(`${world.console}/manage/administrators/${accounts.get("admin")}`);
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  expect(await offered()).toEqual(["Save"]);
  await page.goto(`${world.console}/manage/administrators/${accounts.get("developer")}`);
  await page.getByRole("button", { name: "Reset two-factor sign-in" }).waitFor();
  expect(await offered()).toEqual(names);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the forms offer an administrator only the roles they may give", async () => {
  const roles = async (role: string, path: string) => {
    const { page, context } = await consoleOf(role);
    await page.goto(`${world.console}/manage/administrators/${path}`);
    const choices = page.getByLabel("Role", { exact: true }).getByRole("option");
    await choices.first().waitFor({ state: "attached" });
    const offered = new Set(await choices.allInnerTexts());
    const found = ["owner", "system_admin", "viewer"].filter((one) => offered.has(one));
    const breakGlass = await page.getByLabel("Break glass", { exact: true }).count();
    await context.close();
    return [...found, breakGlass > 0];
  };
  expect(await roles("admin", "new")).toEqual(["viewer", false]);
  expect(await roles("admin", accounts.get("developer") ?? "")).toEqual(["viewer", false]);
  expect(await roles("owner", "new")).toEqual(["owner", "viewer", true]);
  expect(await roles("owner", accounts.get("developer") ?? "")).toEqual(["owner", "viewer", true]);
  expect(await roles("admin", accounts.get("admin") ?? "")).toEqual([false]);
});

withBrowser("an owner's identity is not offered to be unlinked by an administrator who is no owner", async () => {
  const oidc = { issuer: "https://login.example", client_id: "gatehouse" };
  const provider = { tenant_id: "default", kind: "oidc", audience: "admin", name: "Linked here", oidc, client_secret: "s" };
  const { id } = await world.admin.post("/v1/admin/identity-providers", provider);
  for (const [subject, admin_user_id] of [
    ["owner-there", owner],
    ["developer-there", accounts.get("developer")],
  ])
    await world.admin.post(`/v1/admin/identity-providers/${id}/identities`, { subject, admin_user_id });
  const unlinkable = async (role: string, expected: number) => {
    const { page, context } = await consoleOf(role);
    await page.goto(`${world.console}/manage/sign-on/${id}`);
    await page.getByText("owner-there").waitFor();
    const buttons = page.getByRole("button", { name: "Unlink", exact: true });
    await buttons.nth(expected - 1).waitFor();
    expect(await buttons.count()).toBe(expected);
    await context.close();
  };
  await unlinkable("admin", 1);
  await unlinkable("owner", 2);
});

withBrowser("an administrator's two-factor sign-in is reset from their page", async () => {
  const { page, context, problems } = await consoleOf("owner");
  expect(await membersOfNewKey(page)).toContain("End user");
  await page.goto(`${world.console}/manage/administrators/${accounts.get("developer")}`);
  await page.getByRole("button", { name: "Reset two-factor sign-in" }).click();
  const dialog = page.getByRole("dialog", { name: "Reset two-factor sign-in?" });
  const done = page.waitForResponse((response) => response.url().endsWith("/2fa/reset") && response.ok());
  await dialog.getByRole("button", { name: "Reset two-factor sign-in" }).click();
  await done;
  const { entries } = await world.admin.get("/v1/admin/admin-log?resource=admin-users&action=reset_2fa");
  expect(entries).toMatchObject([{ resource_id: accounts.get("developer"), actor_id: owner }]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("unsaved changes of a record are still there after the session ended and its administrator signed in again", async () => {
  const { id: group } = await world.admin.post("/v1/admin/resource-groups", { ...tenant, name: "edited", group_type: "team" });
  const account = { ...tenant, username: "edits", password: ADMIN_PASSWORD, role: "admin" };
  const { id } = await world.admin.post("/v1/admin/admin-users", account);
  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(`${world.console}/manage/resource-groups/${group}`);
  await signInOn(page, "edits", ADMIN_PASSWORD);
  const field = page.getByLabel("Display name", { exact: true });
  await field.fill("not saved yet");
  // A new password ends the existing sessions.
  await world.admin.request("PATCH", `/v1/admin/admin-users/${id}`, { password: "another password" });
  await panel(page, "Settings").getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Your session has ended. Sign in again to continue.").waitFor();
  await signInOn(page, "edits", "another password");
  await field.waitFor();
  expect(await field.inputValue()).toBe("not saved yet");
  expect(problems).toEqual([]);
  await context.close();
});

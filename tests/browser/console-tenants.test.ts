import { afterAll, beforeAll, expect, test } from "bun:test";
import { ADMIN_PASSWORD } from "../support/gateway.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage, withinWidth } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
/** More than one page of a list holds. */
const TENANTS = 201;
const AT_ONCE = 16;
const LAST = `house-${TENANTS - 1}`;
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld();
  const ids = Array.from({ length: TENANTS }, (_, at) => `house-${String(at).padStart(3, "0")}`);
  for (let from = 0; from < TENANTS; from += AT_ONCE)
    await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => world.admin.post("/v1/admin/tenants", { id, name: id })));
});
afterAll(() => world?.end());

withBrowser("a tenant is found by typing, and the previous tenant's records disappear before the new ones load", async () => {
  await world.admin.post("/v1/admin/resource-groups", { tenant_id: "house-001", name: "of the first", group_type: "team" });
  await world.admin.post("/v1/admin/resource-groups", { tenant_id: LAST, name: "of the last", group_type: "team" });
  const { page, context, problems } = await world.consolePage({ at: "/manage/resource-groups?tenant=house-001" });
  await page.getByText("of the first", { exact: true }).waitFor();
  const answers = Promise.withResolvers<void>();
  await page.route("**/v1/admin/resource-groups?*", async (route) => {
    await answers.promise;
    await route.continue();
  });
  const choice = page.getByRole("combobox", { name: "Tenant" });
  await choice.fill(LAST);
  await page.getByRole("option", { name: LAST }).click();
  await page.waitForURL((url) => url.searchParams.get("tenant") === LAST);
  await page.getByText("of the first", { exact: true }).waitFor({ state: "detached" });
  answers.resolve();
  await page.getByText("of the last", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("of the last", { exact: true }).waitFor();
  expect(await choice.inputValue()).toBe(LAST);
  await page.setViewportSize({ width: 320, height: 700 });
  await withinWidth(page, 320);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("switching the tenant with a half-filled form asks for confirmation", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/manage/resource-groups/new?tenant=house-001" });
  await page.getByLabel("Name", { exact: true }).fill("half-typed");
  await page.getByRole("combobox", { name: "Tenant" }).fill("house-002");
  await page.getByRole("option", { name: "house-002" }).click();
  await page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Leave" }).click();
  await page.waitForURL((url) => url.searchParams.get("tenant") === "house-002");
  await page.waitForFunction(() =>
    [...document.querySelectorAll("form input")].every((input) => (input as HTMLInputElement).value !== "half-typed"),
  );
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a person is erased in a chosen tenant only, and the confirmation names it", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/erasure" });
  await page.getByText("Of all tenants: none is chosen.").waitFor();
  await page.getByText("Choose a tenant at the top of the page first.").waitFor();
  expect(await page.getByRole("button", { name: "Erase", exact: true }).count()).toBe(0);
  await page.getByRole("combobox", { name: "Tenant" }).fill(LAST);
  await page.getByRole("option", { name: LAST }).click();
  await page.getByLabel("Gateway user username").fill("anna");
  await page.getByRole("button", { name: "Erase", exact: true }).click();
  const question = page.getByRole("dialog", { name: `Erase this person's data of the tenant ${LAST}?` });
  await question.getByLabel("Type erase to go on").fill("erase");
  await question.getByRole("button", { name: "Erase", exact: true }).click();
  await page.getByText("Erased. The result is listed below.").waitFor();
  expect((await world.admin.get(`/v1/admin/data-erasure?tenant_id=${LAST}`)).total).toBe(1);
  expect((await world.admin.get("/v1/admin/data-erasure?tenant_id=default")).total).toBe(0);
  await page.goto(`${world.console}/audit`);
  await page.getByText("Of all tenants: none is chosen.").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the home page says which parts show all tenants and which the default one", async () => {
  const { page, context, problems } = await world.consolePage();
  await page.getByText("Calls and alerts are of all tenants, approvals and first steps of the usual one: none is chosen.").waitFor();
  await page.goto(`${world.console}/?tenant=house-001`);
  await page.getByRole("heading", { name: "Calls", exact: true }).waitFor();
  expect(await page.getByText("none is chosen").count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("erasure is not offered while the list of tenants is unknown", async () => {
  const { page, context } = await world.consolePage({ at: null });
  await page.route("**/v1/admin/tenants?*", (route) => route.fulfill({ status: 429, json: { error: "Not now.", code: "rate_limited" } }));
  await page.goto(`${world.console}/erasure`);
  await page.getByText("The tenants could not be read").waitFor();
  await page.getByText("No erasures yet.").or(page.getByText("Asked by")).first().waitFor();
  expect(await page.getByRole("button", { name: "Erase", exact: true }).count()).toBe(0);
  await page.unroute("**/v1/admin/tenants?*");
  const choose = page.getByText("Choose a tenant at the top of the page first.");
  // The page may ask again by itself before the click, as it does when its window gets the focus.
  await Promise.any([page.getByRole("button", { name: "Try again" }).click(), choose.waitFor()]);
  await choose.waitFor();
  await context.close();
});

withBrowser("a link to another tenant's page shows an administrator of one tenant their own", async () => {
  const account = { username: "of-one-tenant", password: ADMIN_PASSWORD, role: "admin", tenant_id: "default" };
  await world.admin.post("/v1/admin/admin-users", account);
  await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "of their own", group_type: "team" });
  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(`${world.console}/manage/resource-groups?tenant=house-001`);
  await signInOn(page, account.username, ADMIN_PASSWORD);
  await page.getByText("of their own", { exact: true }).waitFor();
  await page.waitForURL((url) => !url.searchParams.has("tenant"));
  expect(await page.getByRole("combobox", { name: "Tenant" }).count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("repeated sign-ins of a tenant administrator are not counted as failed system logins", async () => {
  await world.admin.post("/v1/admin/admin-users", { username: "often", password: ADMIN_PASSWORD, role: "admin", tenant_id: LAST });
  const failures = async () => (await world.admin.get("/v1/admin/admin-log?action=login_failed")).total;
  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(`${world.console}/`);
  const before = await failures();
  await signInOn(page, "often", ADMIN_PASSWORD);
  for (let again = 0; again < 6; again++) {
    await page.getByRole("button", { name: "Account: often" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await signInOn(page, "often", ADMIN_PASSWORD);
  }
  expect(await failures()).toBe(before);
  expect(problems).toEqual([]);
  await context.close();
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ADMIN_PASSWORD } from "../support/gateway.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

/** More than one page of a list holds. */
const GROUPS = 203;
const AT_ONCE = 16;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld();
});
afterAll(() => world?.end());

let groups: Promise<void> | null = null;

async function makeGroups(): Promise<void> {
  const names = Array.from({ length: GROUPS }, (_, at) => `group ${String(at).padStart(3, "0")}`);
  for (let from = 0; from < GROUPS; from += AT_ONCE)
    await Promise.all(
      names
        .slice(from, from + AT_ONCE)
        .map((name) => world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name, group_type: "team" })),
    );
}

/** Created once, by whichever test needs them first. */
const manyGroups = (): Promise<void> => (groups ??= makeGroups());

withBrowser("requests of the portal's pages do not complete the step of a first model call", async () => {
  const person = await world.portalPage();
  await person.settled();
  await person.context.close();
  const { page, context, problems } = await world.consolePage();
  const step = page.getByRole("listitem").filter({ hasText: "Send a call" });
  await page.getByRole("heading", { name: /^Latest \d+ calls$/ }).waitFor();
  await step.getByLabel("To do").waitFor();
  await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "hello" }] }),
  });
  while ((await step.getByLabel("Done").count()) === 0) {
    await page.reload();
    await page.getByRole("heading", { name: "First steps" }).waitFor();
  }
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a record beyond the first page of a list can be chosen, and is shown by its name", async () => {
  await manyGroups();
  const { page, context, problems } = await world.consolePage({ at: "/manage/models/new" });
  await page.getByLabel("Name", { exact: true }).fill("of-the-last");
  await page.getByLabel("Provider", { exact: true }).fill("echo");
  await page.getByRole("option", { name: "echo" }).click();
  await page.getByLabel("Find a resource group").fill("group 202");
  await page.getByLabel("group 202", { exact: true }).check();
  await page.getByLabel("Find a resource group").fill("");
  await page.getByRole("button", { name: "Create model", exact: true }).click();
  await page.getByRole("heading", { name: "of-the-last", level: 1 }).waitFor();
  expect(await page.getByLabel("group 202", { exact: true }).isChecked()).toBe(true);
  await page.getByRole("definition").filter({ hasText: "group 202" }).waitFor();

  await page.goto(`${world.console}/usage`);
  // The first group is selected automatically.
  await page.waitForFunction(() => [...document.querySelectorAll("input")].some(({ value }) => value !== ""));
  await page.getByLabel("Resource group", { exact: true }).fill("group 202");
  await page.getByRole("option", { name: "group 202" }).click();
  await page.waitForURL((url) => url.searchParams.has("group"));
  await page.getByRole("heading", { name: "No calls in this period" }).waitFor();

  await page.goto(`${world.console}/manage/api-keys/new`);
  await page.getByLabel("Resource group", { exact: true }).fill("group 201");
  await page.getByRole("option", { name: "group 201" }).click();
  await page.getByLabel("Name", { exact: true }).fill("its key");
  await page.getByRole("button", { name: "Create API key", exact: true }).click();
  await page.getByRole("link", { name: "I have it" }).click();
  await page.getByRole("definition").filter({ hasText: "group 201" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a next page that failed to load is requested again only by a button", async () => {
  await manyGroups();
  const { page, context, settled } = await world.consolePage({ at: null });
  const isNext = (url: URL) => url.pathname === "/v1/admin/resource-groups" && url.searchParams.get("page") === "2";
  let asked = 0;
  const again = Promise.withResolvers<string>();
  await page.route(isNext, (route) => {
    if (++asked > 1) again.resolve("asked again");
    return route.fulfill({ status: 500, json: { code: "internal_error", detail: "Something went wrong." } });
  });
  await page.goto(`${world.console}/manage/resource-groups`);
  const table = page.getByRole("table", { name: "Resource groups" });
  await table.getByRole("link", { name: "group 000", exact: true }).waitFor();
  await table.focus();
  await page.keyboard.press("End");
  await page.getByRole("button", { name: "Try again" }).waitFor();
  expect(await Promise.race([settled().then(() => "at rest"), again.promise])).toBe("at rest");
  await page.unroute(isNext);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await table.focus();
  await page.keyboard.press("End");
  await table.getByRole("link", { name: "group 202", exact: true }).waitFor();
  await context.close();
});

withBrowser("leaving a form with unsaved changes asks for confirmation", async () => {
  const { page, context, problems } = await world.consolePage();
  await page.getByRole("link", { name: "Providers" }).click();
  await page.getByRole("link", { name: "New provider" }).click();
  await page.getByLabel("Provider key").fill("half-typed");
  await page.getByRole("link", { name: "Routing groups" }).click();
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  await question.getByRole("button", { name: "Stay", exact: true }).first().click();
  await question.waitFor({ state: "detached" });
  expect(await page.getByLabel("Provider key").inputValue()).toBe("half-typed");
  await page.goBack();
  await question.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("heading", { level: 1, name: "Providers" }).waitFor();

  // A form that was saved, or only looked at, can be left without a warning.
  await page.goto(`${world.console}/manage/resource-groups/new`);
  await page.getByLabel("Name", { exact: true }).fill("saved");
  await page.getByRole("button", { name: "Create resource group", exact: true }).click();
  await page.getByRole("heading", { name: "saved", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Routing groups" }).click();
  await page.getByRole("heading", { name: "Routing groups", level: 1 }).waitFor();
  expect(await question.count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("whoever signs in again after their session ended finds their unsaved input, and another person does not", async () => {
  const accounts = ["long-at-it", "another"].map((username) => ({
    username,
    password: ADMIN_PASSWORD,
    role: "admin",
    tenant_id: "default",
  }));
  const [{ id }] = await Promise.all(accounts.map((account) => world.admin.post("/v1/admin/admin-users", account)));
  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(`${world.console}/manage/providers/new`);
  await signInOn(page, "long-at-it", ADMIN_PASSWORD);
  const field = page.getByLabel("Provider key");
  await field.fill("kept-meanwhile");
  const end = async (password: string) => {
    // A new password ends the existing sessions.
    expect((await world.admin.request("PATCH", `/v1/admin/admin-users/${id}`, { password })).status).toBe(200);
    await page.getByLabel("API format").selectOption("echo");
    await page.getByRole("button", { name: "Create provider", exact: true }).click();
    await page.getByText("Your session has ended. Sign in again to continue.").waitFor();
    expect(await field.isVisible()).toBe(false);
  };
  await end("a second password");
  await signInOn(page, "long-at-it", "a second password");
  await field.waitFor();
  expect(await field.inputValue()).toBe("kept-meanwhile");
  await end("a third password");
  await signInOn(page, "another", ADMIN_PASSWORD);
  await field.waitFor();
  expect(await field.inputValue()).toBe("");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("unsaved edits stay when somebody else changes the record, and only the edited fields are saved", async () => {
  const { id } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "of two", group_type: "team" });
  const path = `/v1/admin/resource-groups/${id}`;
  const { page, context, problems } = await world.consolePage({ at: null });
  await page.clock.install();
  // Returns to the tab after a while, which makes the page refresh.
  const comeBack = async () => {
    await page.clock.fastForward(60_000);
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
  };
  await page.goto(`${world.console}/manage/resource-groups/${id}`);
  await page.getByLabel("Description", { exact: true }).fill("mine");
  await world.admin.request("PATCH", path, { name: "of the other" });
  const told = page.getByText("Someone else has changed this record.");
  await comeBack();
  await told.waitFor();
  expect(await page.getByLabel("Description", { exact: true }).inputValue()).toBe("mine");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await told.waitFor({ state: "detached" });
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("of the other");
  expect(await world.admin.get(path)).toMatchObject({ name: "of the other", description: "mine" });

  await page.getByLabel("Description", { exact: true }).fill("given up");
  await world.admin.request("PATCH", path, { description: "theirs" });
  await comeBack();
  await told.waitFor();
  await page.getByRole("button", { name: "Show the current version" }).click();
  await told.waitFor({ state: "detached" });
  expect(await page.getByLabel("Description", { exact: true }).inputValue()).toBe("theirs");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("concurrent changes of one guardrail survive the second save and an undo", async () => {
  const { id } = await world.admin.post("/v1/admin/guardrails/configs", { name: "of two", builtin: { banned_words: ["first"] } });
  const path = `/v1/admin/guardrails/configs/${id}`;
  const banned = async () => (await world.admin.get(path)).builtin.banned_words;
  const { page, context, problems } = await world.consolePage({ at: `/manage/guardrails/${id}` });
  const words = page.getByLabel("Banned words", { exact: true });
  const unfold = () => page.locator("main details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  await unfold();
  await words.fill("first\nmine");
  await world.admin.request("PATCH", path, { builtin: { banned_words: ["first", "theirs"] } });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").getByText("Somebody else has changed builtin meanwhile. Nothing was saved.").waitFor();
  await page.getByText("Someone else has changed this record.").waitFor();
  expect(await words.inputValue()).toBe("first\nmine");
  expect(await banned()).toEqual(["first", "theirs"]);

  await page.getByRole("button", { name: "Show the current version" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await unfold();
  expect(await words.inputValue()).toBe("first\ntheirs");
  await words.fill("first\ntheirs\nmine");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const undo = page.getByRole("button", { name: "Undo", exact: true });
  await undo.waitFor();
  await world.admin.request("PATCH", path, { builtin: { banned_words: ["first", "theirs", "mine", "theirs again"] } });
  await undo.click();
  await page.getByText("Undo failed: Somebody else has changed builtin meanwhile.").waitFor();
  expect(await banned()).toEqual(["first", "theirs", "mine", "theirs again"]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a change made through another record is shown, and saving over it gives a warning", async () => {
  await world.admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "bound-echo", api_format: "echo" });
  const { id } = await world.admin.post("/v1/admin/llms", { tenant_id: "default", name: "bound", provider: "bound-echo" });
  const [mine, theirs] = await Promise.all(
    ["for mine", "for theirs"].map((name) =>
      world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name, group_type: "team" }),
    ),
  );
  const bind = (group: { id: string }) => world.admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: [id] });
  const { page, context, problems } = await world.consolePage({ at: `/manage/models/${id}` });
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  const unfold = () => page.locator("main details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
  await unfold();
  await page.getByLabel("for mine", { exact: true }).check();
  await bind(theirs);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").getByText("Somebody else has changed").waitFor();
  await page.getByRole("button", { name: "Show the current version" }).click();
  await unfold();
  expect(await page.getByLabel("for theirs", { exact: true }).isChecked()).toBe(true);
  await page.getByLabel("for mine", { exact: true }).check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Undo", exact: true }).waitFor();
  expect((await world.admin.get(`/v1/admin/llms/${id}`)).group_ids.toSorted()).toEqual([mine.id, theirs.id].toSorted());
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("concurrent changes of limits survive a save, and unsaved input stays", async () => {
  const { id } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "limited by two", group_type: "team" });
  const path = `/v1/admin/resource-groups/${id}/llm-global-limits`;
  const limitedTo = (limits: object) => world.admin.request("PATCH", path, { llm_global_limits: limits });
  const { page, context, problems } = await world.consolePage({ at: `/manage/resource-groups/${id}` });
  const limits = page.locator("section").filter({ has: page.getByRole("heading", { name: "Limits and budgets of models", exact: true }) });
  await limits.getByText("Edit").click();
  const daily = limits.getByLabel("Daily limit", { exact: true }).first();
  await daily.fill("100");
  await limitedTo({ budget: { daily_limit_usd: 7 } });
  await limits.getByRole("button", { name: "Save", exact: true }).click();
  await limits.getByRole("alert").getByText("Somebody else has changed this meanwhile.").waitFor();
  await limits.getByText("set here", { exact: true }).waitFor();
  expect(await daily.inputValue()).toBe("100");
  expect((await world.admin.get(path)).llm_global_limits).toEqual({ budget: { daily_limit_usd: 7 } });

  await limits.getByRole("button", { name: "Show the current version" }).click();
  await limits.getByRole("alert").waitFor({ state: "detached" });
  await daily.fill("200");
  await limits.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("saved. Takes effect with the next call.").waitFor();
  expect((await world.admin.get(path)).llm_global_limits).toMatchObject({ tokens: { daily_limit: 200 }, budget: { daily_limit_usd: 7 } });
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a page without a connection reports it for reads and writes", async () => {
  const { page, context } = await world.consolePage();
  await page.getByRole("link", { name: "Resource groups" }).click();
  await page.getByRole("link", { name: "New resource group" }).click();
  await page.getByLabel("Name", { exact: true }).fill("never sent");
  await context.setOffline(true);
  await page.getByRole("button", { name: "Create resource group", exact: true }).click();
  const told = page.getByRole("alert").filter({ hasText: "The gateway did not answer." });
  await told.waitFor();
  await page.getByRole("link", { name: "Guardrails", exact: true }).click();
  await page.getByRole("button", { name: "Leave", exact: true }).click();
  await page.getByRole("heading", { name: "Guardrails", level: 1 }).waitFor();
  await told.waitFor();
  await context.setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await told.waitFor({ state: "detached" });
  await context.close();
});

withBrowser("a refused form keeps the keyboard focus, and is sent once however often it is submitted", async () => {
  await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "taken", group_type: "team" });
  const { page, context } = await world.consolePage();
  await page.getByRole("link", { name: "Resource groups" }).click();
  await page.getByRole("link", { name: "New resource group" }).click();
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("taken");
  let sent = 0;
  let answer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/v1/admin/resource-groups*", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    sent++;
    await held;
    await route.continue();
  });
  const create = page.getByRole("button", { name: "Create resource group", exact: true });
  await create.focus();
  await page.keyboard.press("Enter");
  await page.locator("button[aria-busy=true]").waitFor();
  await page.keyboard.press("Enter");
  await name.press("Enter");
  await create.focus();
  answer();
  await page.getByRole("alert").getByText("There is already a resource group of this name.").waitFor();
  expect(await create.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(sent).toBe(1);
  await context.close();
});

withBrowser("governance gaps are shown for AI Systems beyond the first page of the board", async () => {
  const many = Array.from({ length: 201 }, (_, at) => `system ${String(at).padStart(3, "0")}`);
  for (let from = 0; from < many.length; from += AT_ONCE)
    await Promise.all(
      many.slice(from, from + AT_ONCE).map(async (name) => {
        const { id } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name, group_type: "team" });
        await world.admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: id });
      }),
    );
  const { ai_systems: beyond } = await world.admin.get("/v1/admin/ai-systems?page=2&page_size=200");
  const { page, context, problems } = await world.consolePage({ at: `/manage/ai-systems/${beyond[0].id}` });
  await page.getByRole("heading", { name: "Governance gaps" }).waitFor();
  await page.getByText("Set purpose on the AI System.").first().waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("certificates and responses beyond the first page can be reached, and an active response is lifted", async () => {
  const { id } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "held back", group_type: "team" });
  await world.admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: id });
  for (let at = 0; at < 21; at++) await world.admin.post(`/v1/admin/ai-systems/${id}/assurance`, {});
  const { page, context, problems } = await world.consolePage({ at: null });
  const response = (at: number) => ({
    ...{ id: crypto.randomUUID(), ai_system_id: id, policy_id: null, policy_name: `policy ${at}`, finding_id: null, action: "suspend" },
    ...{ status: at < 20 ? "dry_run" : "active", reason: "seen", fired_at: new Date().toISOString() },
    ...{ expires_at: null, ended_at: null, ended_by: null },
  });
  const all = Array.from({ length: 21 }, (_, at) => response(at));
  await page.route(`**/ai-systems/${id}/responses?*`, async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [at, size] = [Number(query.get("page") ?? 1), Number(query.get("page_size"))];
    await route.fulfill({ json: { responses: all.slice((at - 1) * size, at * size), total: all.length, page: at, page_size: size } });
  });
  await page.goto(`${world.console}/manage/ai-systems/${id}`);
  await page.getByText("by policy 20,").waitFor();
  await page.getByRole("button", { name: "Restore" }).waitFor();
  const certificates = page.locator("section").filter({ has: page.getByRole("heading", { name: "Certificates", exact: true }) });
  const earlier = certificates.getByRole("button", { name: "Show earlier certificates" });
  const broken = `**/ai-systems/${id}/assurance/history?*page=2*`;
  await page.route(broken, (route) => route.fulfill({ status: 400, json: { code: "invalid_query", detail: "It is not to be had." } }));
  await earlier.click();
  await certificates.getByText("It is not to be had.").waitFor();
  expect(await certificates.getByRole("listitem").count()).toBe(20);
  await page.unroute(broken);
  await earlier.click();
  await certificates.getByRole("listitem").nth(20).waitFor();
  expect(await earlier.count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

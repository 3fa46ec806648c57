import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { newPerson } from "../support/worlds/portal.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
});
afterAll(() => world?.end());

const panel = (page: Page, title: string): Locator =>
  page.locator("section").filter({ has: page.getByRole("heading", { name: title, exact: true }) });

/** Waits until the gateway has saved the form and the page shows the new state. */
async function saved(page: Page, within: Locator = panel(page, "Settings")): Promise<void> {
  const answered = page.waitForResponse((response) => ["PATCH", "PUT"].includes(response.request().method()));
  await within.getByRole("button", { name: "Save", exact: true }).click();
  const answer = await answered;
  expect([answer.status(), answer.request().postData()]).toEqual([200, answer.request().postData()]);
  await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
}

withBrowser("saving a group of people keeps its members, who are added and removed one by one", async () => {
  const [first, second] = await Promise.all(
    ["member-one", "member-two", "member-three"].map((name) => newPerson(world.gateway.runtimeUrl as string, name)),
  );
  const { id } = await world.admin.post("/v1/admin/end-user-groups", {
    tenant_id: "default",
    name: "engineering",
    initial_member_ids: [first?.id, second?.id],
  });
  const { id: resourceGroup } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "of engineering" });
  const members = async () =>
    (await world.admin.get(`/v1/admin/end-user-groups/${id}/members`)).members.map(({ username }: { username: string }) => username).sort();
  const { page, context, problems } = await world.consolePage({ at: `/manage/groups-of-people/${id}` });
  const settings = panel(page, "Settings");
  await settings.getByLabel("Display name", { exact: true }).fill("Engineers");
  expect(await settings.getByRole("checkbox").count()).toBe(0);
  await saved(page);
  expect(await members()).toEqual(["member-one", "member-two"]);

  await page.getByLabel("Person to add", { exact: true }).fill("member-three");
  await page.getByRole("option", { name: "member-three" }).click();
  await page.getByRole("button", { name: "Add member" }).click();
  await page.getByRole("button", { name: "Remove member-three" }).waitFor();
  await page.getByRole("button", { name: "Remove member-one" }).click();
  await page.getByText("member-one was removed.").waitFor();
  expect(await members()).toEqual(["member-three", "member-two"]);
  await page.getByText("member-one was removed.").locator("..").getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Remove member-one" }).waitFor();
  expect(await members()).toEqual(["member-one", "member-three", "member-two"]);

  await page.getByLabel("Resource group", { exact: true }).fill("of engineering");
  await page.getByRole("option", { name: "of engineering" }).click();
  await page.getByRole("button", { name: "Give access" }).click();
  await page.getByRole("button", { name: "Remove of engineering" }).waitFor();
  const { resource_groups: bound } = await world.admin.get(`/v1/admin/end-user-groups/${id}/resource-groups`);
  expect(bound.map((group: { id: string }) => group.id)).toEqual([resourceGroup]);
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Remove of engineering" }).click();
  await page.getByText("None yet.").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a webhook's address and secret can be replaced, and are never shown", async () => {
  const url = "http://127.0.0.1:1/first-address";
  const { id } = await world.admin.post("/v1/admin/webhooks", { tenant_id: "default", name: "on-call", url });
  const { page, context, problems } = await world.consolePage({ at: `/manage/webhooks/${id}` });
  const settings = panel(page, "Settings");
  expect(await settings.getByLabel("drift_finding.opened", { exact: true }).isChecked()).toBe(true);
  const address = settings.getByLabel("URL", { exact: true });
  const secret = settings.getByLabel("Signing secret", { exact: true });
  expect([await address.inputValue(), await secret.inputValue(), await secret.getAttribute("type")]).toEqual(["", "", "password"]);
  await address.fill("http://127.0.0.2:1/second-address");
  await secret.fill(`whsec_${Buffer.alloc(32, 7).toString("base64")}`);
  await saved(page);
  expect(await world.admin.get(`/v1/admin/webhooks/${id}`)).toMatchObject({ url_origin: "http://127.0.0.2:1", has_signing_secret: true });
  // Neither is sent again with other changes.
  await settings.getByLabel("Name", { exact: true }).fill("on-call of the week");
  await saved(page);
  expect(await world.admin.get(`/v1/admin/webhooks/${id}`)).toMatchObject({ name: "on-call of the week", has_signing_secret: true });
  expect(await page.content()).not.toMatch(/first-address|second-address|whsec_/);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an edit form offers no empty choice for a field with a value", async () => {
  await world.admin.post("/v1/admin/tenants", { id: "strict", name: "strict", display_name: "Strict", admin_two_factor: "required" });
  const { page, context, problems } = await world.consolePage({ at: "/manage/tenants/strict" });
  const settings = panel(page, "Settings");
  const choice = settings.getByLabel("Admin two factor", { exact: true });
  await choice.waitFor();
  expect(await choice.locator("option").allTextContents()).toEqual(["optional", "required"]);
  const sent: string[] = [];
  page.on("request", (request) => void (request.method() === "PATCH" && sent.push(request.url())));
  await settings.getByText("more settings").click();
  const minutes = settings.getByLabel("Run idle minutes", { exact: true });
  await minutes.fill("");
  await settings.getByRole("button", { name: "Save", exact: true }).click();
  expect(await minutes.evaluate((field: HTMLInputElement) => [field.validity.valueMissing, field === document.activeElement])).toEqual([
    true,
    true,
  ]);
  expect(sent).toEqual([]);
  await minutes.fill("45");
  await saved(page);
  expect(await world.admin.get("/v1/admin/tenants/strict")).toMatchObject({ run_idle_minutes: 45, admin_two_factor: "required" });
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the endpoint path of a tool server can be saved empty", async () => {
  const at = { tenant_id: "default", name: "at its address", base_url: "http://127.0.0.1:9/rpc" };
  const { id } = await world.admin.post("/v1/admin/mcp-servers", at);
  const { page, context, problems } = await world.consolePage({ at: `/manage/tool-servers/${id}` });
  const settings = panel(page, "Settings");
  await settings.getByLabel("Tool endpoint path", { exact: true }).fill("");
  await saved(page);
  expect(await world.admin.get(`/v1/admin/mcp-servers/${id}`)).toMatchObject({ mcp_endpoint_path: "", name: "at its address" });
  await settings.getByLabel("Name", { exact: true }).fill("renamed");
  await saved(page);
  expect(await world.admin.get(`/v1/admin/mcp-servers/${id}`)).toMatchObject({ mcp_endpoint_path: "", name: "renamed" });
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an emptied list of tools allows all tools, as its form says; allowing none is a separate choice", async () => {
  const { id: server } = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "with tools",
    base_url: "http://127.0.0.1:9",
  });
  const { id } = await world.admin.post("/v1/admin/server-configs", {
    tenant_id: "default",
    name: "some tools",
    mcp_server_id: server,
    enabled_tools: ["search"],
  });
  const enabled = async () => (await world.admin.get(`/v1/admin/server-configs/${id}`)).enabled_tools;
  const { page, context, problems } = await world.consolePage({ at: `/manage/server-configs/${id}` });
  const lines = page.getByLabel("Enabled tools", { exact: true });
  const none = page.getByLabel("No enabled tools at all", { exact: true });
  await lines.fill("");
  await saved(page);
  expect(await enabled()).toBeNull();
  const shown = page.getByRole("row").filter({ hasText: "some tools" });
  await page.goto(`${world.console}/manage/server-configs`);
  await shown.getByText("all", { exact: true }).waitFor();

  await page.goto(`${world.console}/manage/server-configs/${id}`);
  await none.check();
  expect(await lines.count()).toBe(0);
  await saved(page);
  expect(await enabled()).toEqual([]);
  await page.reload();
  await page.waitForFunction(() => document.querySelector("h1")?.textContent === "some tools");
  expect(await none.isChecked()).toBe(true);
  await none.uncheck();
  await lines.fill("search\nread");
  await saved(page);
  expect(await enabled()).toEqual(["search", "read"]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a list set at a group is marked as set here, and as extended if a parent adds to it", async () => {
  const { id: above } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "above" });
  const { id } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "below", parent_group_id: above });
  const rules = (denied: string[]) => ({ web_search: { domains: { denied } } });
  const path = (group: string) => `/v1/admin/resource-groups/${group}`;
  for (const [group, body] of [
    [above, rules(["a.example"])],
    [id, rules(["b.example"])],
  ] as const)
    expect((await world.admin.request("PATCH", `${path(group)}/web-search`, body)).status).toBe(200);
  const { page, context, problems } = await world.consolePage({ at: `/manage/resource-groups/${above}` });
  const shown = page.getByRole("definition").filter({ hasText: "a.example" });
  await shown.getByText("set here", { exact: true }).waitFor();
  await page.goto(`${world.console}/manage/resource-groups/${id}`);
  await shown.filter({ hasText: "b.example" }).getByText("set here, extended by a parent", { exact: true }).waitFor();
  // The rules in force are shown in the order above and are exactly those set here.
  expect((await world.admin.request("PATCH", `${path(id)}/web-search`, rules(["b.example", "a.example"]))).status).toBe(200);
  await page.reload();
  await shown.filter({ hasText: "b.example" }).getByText("set here", { exact: true }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an AI System's notice is shown, changed and reset after choosing the system", async () => {
  const { id } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "shop assistant" });
  await world.admin.request("PUT", "/v1/admin/notice-config", { tenant_id: "default", texts: { en: "Of the tenant." } });
  await world.admin.request("PUT", "/v1/admin/notice-config", { tenant_id: "default", ai_system_id: id, texts: { en: "Of the shop." } });
  const { page, context, problems } = await world.consolePage({ at: "/notice" });
  await page.getByText("Of the tenant.", { exact: true }).waitFor();
  await page.getByLabel("AI System", { exact: true }).fill("shop assistant");
  await page.getByRole("option", { name: "shop assistant" }).click();
  await page.getByText("Of the shop.", { exact: true }).waitFor();
  await page.getByText("of one AI system", { exact: true }).waitFor();
  const texts = page.getByLabel("Texts");
  expect(JSON.parse(await texts.inputValue())).toEqual({ en: "Of the shop." });

  // Someone else saves meanwhile: the typed text stays and does not overwrite their change.
  await texts.fill('{"en": "Typed here."}');
  await world.admin.request("PUT", "/v1/admin/notice-config", { tenant_id: "default", ai_system_id: id, texts: { en: "Of another." } });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Somebody else has changed this meanwhile. Nothing was saved.").waitFor();
  expect(await texts.inputValue()).toBe('{"en": "Typed here."}');
  await page.getByRole("button", { name: "Show the current version" }).click();
  await texts.fill('{"en": "Typed again."}');
  await saved(page, panel(page, "Change it"));
  await page.getByText("Typed again.", { exact: true }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);

  await page.reload();
  await page.getByText("Typed again.", { exact: true }).waitFor();
  const takeBack = async () => {
    await page.getByRole("button", { name: "Show what holds without it" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Show what holds without it" }).click();
    await page.getByText("Its own notice is gone. What holds without it is shown.").waitFor();
  };
  await takeBack();
  await page.getByText("Of the tenant.", { exact: true }).waitFor();
  expect((await world.admin.get(`/v1/admin/notice-config?ai_system_id=${id}`)).source).toBe("tenant");
  await world.admin.request("DELETE", "/v1/admin/notice-config");

  // If the tenant has no notice, the gateway's own applies.
  await world.admin.request("PUT", "/v1/admin/notice-config", { tenant_id: "default", ai_system_id: id, texts: { en: "Of the shop." } });
  await page.reload();
  await takeBack();
  await page.getByText("the gateway's own", { exact: true }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a response policy in dry run is armed on its page", async () => {
  const { id } = await world.admin.post("/v1/admin/response-policies", {
    tenant_id: "default",
    name: "stop what drifts",
    finding_kinds: ["tool_drift"],
    action: "suspend",
  });
  const { page, context, problems } = await world.consolePage({ at: `/manage/response-policies/${id}` });
  await panel(page, "Settings").getByLabel("Mode", { exact: true }).selectOption("armed");
  await saved(page);
  expect(await world.admin.get(`/v1/admin/response-policies/${id}`)).toMatchObject({
    mode: "armed",
    action: "suspend",
    ttl_seconds: 86_400,
  });
  await world.admin.request("DELETE", `/v1/admin/response-policies/${id}`);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an identity mapping is created by choosing the person", async () => {
  const person = await newPerson(world.gateway.runtimeUrl as string, "reader-of-documents");
  const { page, context, problems } = await world.consolePage({ at: "/manage/knowledge-identities/new" });
  await page.getByLabel("End user", { exact: true }).fill("reader-of-documents");
  await page.getByRole("option", { name: "reader-of-documents" }).click();
  await page.getByLabel("Connector type", { exact: true }).selectOption({ index: 1 });
  await page.getByLabel("Source identity", { exact: true }).fill("reader@source.example");
  await page.getByRole("button", { name: "Create identity mapping" }).click();
  await page.getByRole("heading", { name: "reader@source.example", level: 1 }).waitFor();
  await page.goto(`${world.console}/manage/knowledge-identities`);
  await page.getByRole("row").filter({ hasText: "reader@source.example" }).getByText("reader-of-documents", { exact: true }).waitFor();
  const { mappings } = await world.admin.get("/v1/admin/kb-identities");
  expect(mappings.map((mapping: { end_user_id: string }) => mapping.end_user_id)).toEqual([person.id]);
  expect(problems).toEqual([]);
  await context.close();
});

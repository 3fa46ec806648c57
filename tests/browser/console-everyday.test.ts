import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { startHandshakeServer } from "../support/tool-servers/tool-servers.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, withinWidth } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
});
afterAll(() => world?.end());

withBrowser("a hidden model is not in the portal's picker, and can still be called", async () => {
  const { llms } = await world.admin.get("/v1/admin/llms");
  const [echo] = llms;
  const { page, context, problems } = await world.consolePage({ at: `/manage/resource-groups/${echo.group_ids[0]}` });
  await page.getByRole("button", { name: `Hide in portal: ${echo.name}` }).click();
  await page.getByText("hidden in the portal", { exact: true }).waitFor();
  const person = await world.portalPage();
  await person.settled();
  expect(await person.page.getByRole("option", { name: echo.name, exact: true }).count()).toBe(0);
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: echo.name, messages: [{ role: "user", content: "hello" }] }),
  });
  expect(answer.status).toBe(200);
  await page.getByRole("button", { name: `Show in portal: ${echo.name}` }).click();
  await page.getByText("hidden in the portal", { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: `Hide in portal: ${echo.name}` }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect([...problems, ...person.problems]).toEqual([]);
  await person.context.close();
  await context.close();
});

withBrowser("all models and tool servers are checked at once, and failures are listed with their reasons", async () => {
  await world.admin.post("/v1/admin/providers", {
    provider_key: "gone",
    name: "Gone",
    api_format: "openai",
    base_url: "http://127.0.0.1:9",
    api_key: "k",
  });
  await world.admin.post("/v1/admin/llms", { name: "out-of-reach", model_name: "x", provider: "gone" });
  const { page, context, problems } = await world.consolePage({ at: "/manage/models" });
  await page.getByRole("button", { name: "Check all" }).click();
  const failing = page.getByRole("list", { name: "Failing" });
  await failing.getByRole("link", { name: "out-of-reach" }).waitFor();
  expect(await failing.getByRole("listitem").count()).toBe(1);
  await page.getByText("1 of 2 answered.").waitFor();
  // Its head has headings of several lines.
  const table = page.getByRole("table");
  const bottomOf = async (one: Locator) => (await one.boundingBox().then((box) => box && box.y + box.height)) ?? Number.NaN;
  expect(await bottomOf(table.getByRole("row").last())).toBeLessThanOrEqual((await bottomOf(table)) + 1);

  const server = startHandshakeServer({});
  await world.admin.post("/v1/admin/mcp-servers", { name: "answers", base_url: server.baseUrl });
  await world.admin.post("/v1/admin/mcp-servers", { name: "silent", base_url: "http://127.0.0.1:9" });
  await page.goto(`${world.console}/manage/tool-servers`);
  await page.getByRole("button", { name: "Check all" }).click();
  await page.getByText("1 of 2 answered.").waitFor();
  await failing.getByRole("link", { name: "silent" }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 700 });
  await withinWidth(page, 320);
  expect(problems).toEqual([]);
  await context.close();
  await server.stop();
});

withBrowser("a tool server gets an icon and a person a photo; a file that is not an image is refused", async () => {
  const server = await world.admin.post("/v1/admin/mcp-servers", { name: "with an icon", base_url: "http://127.0.0.1:9/icon" });
  const { page, context, problems } = await world.consolePage({ at: `/manage/tool-servers/${server.id}` });
  const upload = (buffer: Buffer, name: string) => page.getByLabel(name).setInputFiles({ name: "a.png", mimeType: "image/png", buffer });
  await upload(Buffer.from("no picture"), "Icon file");
  await page.getByRole("alert").waitFor();
  await upload(PIXEL, "Icon file");
  await page.getByRole("img", { name: "Icon" }).waitFor();
  await page.getByRole("button", { name: "Replace icon" }).waitFor();
  expect(await page.getByRole("img", { name: "Icon" }).evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);

  const { users } = await world.admin.get("/v1/admin/end-users");
  await page.goto(`${world.console}/manage/people/${users[0].id}`);
  await page.getByRole("heading", { name: "Photo" }).waitFor();
  await upload(PIXEL, "Photo file");
  await page.getByRole("img", { name: "Photo" }).waitFor();
  await page.waitForFunction(() => document.querySelector<HTMLImageElement>("img[alt=Photo]")?.naturalWidth === 1);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("people are exported, and one person's record and calls are found for an access request", async () => {
  const { users } = await world.admin.get("/v1/admin/end-users");
  const [person] = users;
  const { page, context, problems } = await world.consolePage({ at: "/manage/people" });
  for (const [button, holds] of [
    ["Export CSV", `${person.username},`],
    ["Export JSON", `"username":"${person.username}"`],
  ] as const) {
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: button }).click();
    expect(readFileSync(await (await saved).path(), "utf8")).toContain(holds);
  }
  await page.getByRole("link", { name: person.username, exact: true }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download account record" }).click();
  expect(JSON.parse(readFileSync(await (await saved).path(), "utf8"))).toMatchObject({ id: person.id });
  await page.getByRole("link", { name: "Their calls in the audit explorer" }).click();
  await page.waitForURL((url) => url.pathname.endsWith("/audit") && decodeURIComponent(url.search).includes(person.id));
  await page.getByRole("heading", { name: "Audit explorer" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("statements for the record of processing are saved in the console and appear in the report", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/compliance" });
  await page.getByRole("button", { name: "GDPR, article 30" }).click();
  await page.getByRole("heading", { name: "Record of processing: your statements" }).waitFor();
  await page.getByLabel("Controller", { exact: true }).fill("Example Ltd, 1 High Street");
  await page.getByRole("button", { name: "Save statements" }).click();
  await page.getByText("Statements saved.").waitFor();
  expect(await world.admin.get("/v1/admin/compliance/gdpr/statements")).toMatchObject({
    controller: "Example Ltd, 1 High Street",
    purposes: null,
  });
  await page.reload();
  await page.getByRole("button", { name: "GDPR, article 30" }).click();
  await page.waitForFunction(() =>
    [...document.querySelectorAll("textarea, input")].some((field) => (field as HTMLInputElement).value.startsWith("Example Ltd")),
  );
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("groups of people get and lose access on a resource group's page", async () => {
  const team = await world.admin.post("/v1/admin/end-user-groups", { name: "night shift" });
  const group = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "wards", group_type: "team" });
  const { page, context, problems } = await world.consolePage({ at: `/manage/resource-groups/${group.id}` });
  await page.getByLabel("Group of people", { exact: true }).fill("night");
  await page.getByRole("option", { name: "night shift" }).click();
  await page.getByRole("button", { name: "Give access" }).click();
  await page.getByRole("list", { name: "Groups of people" }).getByRole("link", { name: "night shift" }).waitFor();
  const bound = () => world.admin.get(`/v1/admin/end-user-groups/${team.id}/resource-groups`);
  expect((await bound()).total).toBe(1);
  await page.getByRole("button", { name: "Remove night shift" }).click();
  await page.getByText("Members of night shift no longer have this resource group.").waitFor();
  expect((await bound()).total).toBe(0);
  await page.goto(`${world.console}/manage/tenants/default`);
  await page.getByRole("heading", { name: "At a glance" }).waitFor();
  await page.getByText("Model calls, last 30 days").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a response policy of one AI System is previewed and created on its page, and findings of all are listed", async () => {
  const group = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "assistant", group_type: "team" });
  await world.admin.post("/v1/admin/ai-systems", { group_id: group.id });
  const { page, context, problems } = await world.consolePage({ at: `/manage/ai-systems/${group.id}` });
  await page.getByText("New response policy for this system").click();
  const form = page.locator("details[open]").filter({ hasText: "New response policy for this system" });
  await form.getByLabel("Name", { exact: true }).fill("ask first");
  await form.getByLabel(/^cost$/i).check();
  await form.getByLabel("Action", { exact: true }).selectOption("require_approval");
  await form.getByRole("button", { name: "Preview" }).click();
  await form.getByText("Open findings it would respond to").waitFor();
  await form.getByRole("button", { name: "Create response policy" }).click();
  await page.getByRole("link", { name: "ask first" }).waitFor();
  const { response_policies: held } = await world.admin.get(`/v1/admin/ai-systems/${group.id}/response-policies`);
  expect(held).toMatchObject([{ name: "ask first", ai_system_id: group.id, inherited: false }]);
  await page.getByRole("heading", { name: "What the audit rows show" }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole("navigation").getByRole("link", { name: "Findings" }).click();
  await page.getByRole("heading", { name: "No open findings" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "No open findings" }).waitFor();
  const [list, current] = await Promise.all(
    [page.getByRole("navigation"), page.getByRole("navigation").getByRole("link", { name: "Findings" })].map((one) => one.boundingBox()),
  );
  expect((current?.y ?? Number.NaN) + (current?.height ?? 0)).toBeLessThanOrEqual((list?.y ?? 0) + (list?.height ?? 0));
  await page.getByLabel("Status").selectOption("Closed");
  await page.getByRole("heading", { name: "No closed findings" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

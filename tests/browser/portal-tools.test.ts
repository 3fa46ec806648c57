import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { grant } from "../e2e/tools/mcp-harness.ts";
import { startInterfaceServer } from "../support/tool-servers/interface-server.ts";
import { newPerson, type PortalClient } from "../support/worlds/portal.ts";
import { startToolCallingModel, type ToolCallingModel } from "../support/vendors/tool-calling-model.ts";
import { startStatelessServer, type ToolServerFixture } from "../support/tool-servers/tool-servers.ts";
import { until } from "../support/until.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;
let model: ToolCallingModel;
let tools: ToolServerFixture;
let interfaces: ReturnType<typeof startInterfaceServer>;
let groupId: string;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  model = startToolCallingModel();
  tools = startStatelessServer();
  interfaces = startInterfaceServer();
  const { admin } = world;
  groupId = ((await admin.get("/v1/admin/resource-groups")) as any).resource_groups[0].id;
  await admin.post("/v1/admin/providers", {
    tenant_id: "default",
    provider_key: "calling",
    api_format: "openai",
    base_url: model.baseUrl,
    api_key: "k",
  });
  await admin.post("/v1/admin/llms", { tenant_id: "default", name: "calling", provider: "calling", group_ids: [groupId] });
  for (const [name, baseUrl] of [
    ["tools", tools.baseUrl],
    ["counters", interfaces.baseUrl],
  ] as const) {
    const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: baseUrl });
    await grant(admin, name, id, [groupId], { approval_required_tools: ["echo"] });
  }
});
afterAll(async () => {
  await Promise.all([model?.stop(), tools?.stop(), interfaces?.stop()]);
  await world?.end();
});

/** Another member of the group, who may approve what others request. */
async function colleague(): Promise<PortalClient> {
  const person = await newPerson(world.gateway.runtimeUrl, `colleague-${crypto.randomUUID().slice(0, 8)}`);
  await world.admin.request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: groupId });
  return person;
}

async function withTools(page: Page, ...names: readonly string[]): Promise<void> {
  await page.getByLabel("Model").selectOption({ label: "calling" });
  await page.getByRole("button", { name: "Tools", exact: true }).click();
  for (const name of names) await page.getByRole("checkbox", { name }).check();
  await page.getByRole("dialog").getByText("echo", { exact: true }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
}

withBrowser("a tool call that needs approval waits in place, survives a reload, and continues once approved", async () => {
  const { page, context, problems } = await world.portalPage({ width: 320, height: 720 });
  await withTools(page, "tools");
  await say(page, 'call echo {"text":"<img src=x onerror=alert(1)>"}; call secret {}');
  const held = page.getByRole("region", { name: "Call of echo on tools" });
  await held.getByText("Waiting for approval").waitFor();
  await page.getByRole("region", { name: "Call of secret on tools" }).getByText("Done").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);

  await page.reload();
  await page.getByRole("button", { name: "Continue" }).click();
  await held.getByText("Waiting for approval").waitFor();
  const other = await colleague();
  const { body: pending } = await other.request("GET", "/approvals?status=pending");
  expect(pending.approvals.map(({ capability_name: name }: any) => name)).toEqual(["echo"]);
  await other.request("POST", `/approvals/${pending.approvals[0].id}/approve`, {});
  await held.getByText("Done").waitFor();
  await page.getByText("The tool said: the secret").waitFor();
  expect(model.seen.at(-1).messages.slice(-2)).toEqual([
    { role: "tool", tool_call_id: expect.any(String), content: "new: <img src=x onerror=alert(1)>" },
    { role: "tool", tool_call_id: expect.any(String), content: "the secret" },
  ]);

  // The model and tool calls of one answer form one run, and feedback applies to the whole run.
  await page.getByRole("button", { name: "Helpful", exact: true }).click();
  await page.locator('button[aria-pressed="true"]').waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a rejected tool call is reported to the model with the reason", async () => {
  const { page, context, problems } = await world.portalPage();
  await withTools(page, "tools");
  await say(page, 'call echo {"text":"no"}');
  const call = page.getByRole("region", { name: "Call of echo on tools" });
  await call.getByText("Waiting for approval").waitFor();
  const other = await colleague();
  const { body: pending } = await other.request("GET", "/approvals?status=pending");
  await other.request("POST", `/approvals/${pending.approvals[0].id}/reject`, { note: "not today" });
  await call.getByText("Not approved", { exact: true }).waitFor();
  await page.getByText("The tool said: The call was not approved (rejected). Note: not today").waitFor();
  await say(page, "call nothing {}");
  await page.getByText("The tool said: There is no such tool.").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a waiting tool call keeps waiting if one poll of its approval fails", async () => {
  const { page, context, problems } = await world.portalPage();
  let looks = 0;
  await page.route("**/v1/portal/approvals/*/poll", (route) => (looks++ === 0 ? route.fulfill({ status: 503 }) : route.continue()));
  await withTools(page, "tools");
  await say(page, 'call echo {"text":"patience"}');
  const call = page.getByRole("region", { name: "Call of echo on tools" });
  await call.getByText("Waiting for approval").waitFor();
  await until(
    () => looks,
    (count) => count > 0,
  );
  const other = await colleague();
  const { body: pending } = await other.request("GET", "/approvals?status=pending");
  await other.request("POST", `/approvals/${pending.approvals[0].id}/approve`, {});
  await page.getByText("The tool said: new: patience").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a tool call started in one tab is not repeated by another tab that continues the answer", async () => {
  const { page, context, problems } = await world.portalPage();
  await withTools(page, "tools");
  await say(page, "call secret {}");
  await page.getByText("The tool said: the secret").waitFor();
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByText("The tool said: the secret").waitFor();
  await page.route("**/v1/proxy/mcp/**", (route) => {
    if (route.request().postDataJSON().method !== "tools/call") return route.continue();
    return undefined;
  });
  await say(page, "call secret {}");
  await second.getByText("Another tab is answering in this conversation.").waitFor();
  await second.getByRole("region", { name: "Call of secret on tools" }).nth(1).waitFor();
  expect(await second.getByRole("button", { name: "Continue" }).count()).toBe(0);
  await page.close();
  await second.getByRole("button", { name: "Continue" }).click();
  await second.getByText("The tool said: The page was left before the answer came; the call may have been made.").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an answer whose tool call was running when another tab opened it is completed and kept there", async () => {
  const { page, context, problems } = await world.portalPage();
  await withTools(page, "tools");
  const held = Promise.withResolvers<void>();
  await page.route("**/v1/proxy/mcp/**", async (route) => {
    if (route.request().postDataJSON().method === "tools/call") await held.promise;
    await route.continue();
  });
  await say(page, "call secret {}");
  await page.getByRole("region", { name: "Call of secret on tools" }).waitFor();
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByText("Another tab is answering in this conversation.").waitFor();
  held.resolve();
  await page.getByText("The tool said: the secret").waitFor();
  await second.getByText("The tool said: the secret").waitFor();
  await second.getByRole("button", { name: "Helpful", exact: true }).click();
  await page.locator("[aria-pressed=true]").waitFor();
  await page.reload();
  await page.getByText("The tool said: the secret").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a tool's UI is shown, may call its own server, and reaches nothing else", async () => {
  const { page, context, problems } = await world.portalPage({ theme: "dark" });
  await withTools(page, "counters", "tools");
  await say(page, "call counter {}");
  const frame = page.frameLocator('iframe[title="Interface of counters"]').frameLocator("iframe");
  await frame.getByText("result: at 1").waitFor();
  await frame.getByText("navigation no").waitFor();
  expect(await frame.locator("#tried").textContent()).toBe("parent no, storage no, cookie no, token no, network no, navigation no");
  await frame.getByRole("button", { name: "more" }).click();
  await frame.getByText("counted 2").waitFor();
  await page.getByText("count: Done").waitFor();
  expect(interfaces.counted).toEqual([2]);
  expect(model.seen.at(-1).tools.map((tool: any) => tool.function.name)).not.toContain("count");
  expect(await page.locator('iframe[title="Interface of counters"]').evaluate((element) => element.clientHeight)).toBe(123);
  expect(await accessibilityFindings(page)).toEqual([]);
  // These are attempts by the frame itself, which its own content security policy blocked.
  expect(problems.filter((problem) => !/^(?:console: |policy: (?:connect|frame)-src )/.test(problem))).toEqual([]);
  await context.close();
});

const FORMULAS = [
  "Euler: \\(e^{i\\pi} + 1 = 0\\), and it costs $5 or $6.",
  "\\[\\int_0^1 x^2 \\, dx = \\frac{1}{3}\\]",
  "Inline $a^2$ and `$not maths$`.",
  "$$\n\\begin{pmatrix}1 & 2 \\\\ 3 & 4\\end{pmatrix}\n$$",
  "$\\href{javascript:alert(1)}{x}$ and $\\def\\a{\\a\\a}\\a$ and $\\includegraphics{https://evil.example/x.png}$",
  `$${"{".repeat(2_000)}$`,
].join("\n\n");

withBrowser("formulas are rendered, prices and code are not, and a formula can do no harm", async () => {
  const { page, context, problems } = await world.portalPage();
  await page.getByLabel("Model").selectOption({ label: "calling" });
  await say(page, FORMULAS);
  const answer = page.getByRole("article", { name: "AI-generated" });
  await answer.locator("math mtable").waitFor();
  expect(await answer.locator("math").count()).toBe(4);
  expect(await answer.locator("math mfrac").count()).toBe(1);
  await answer.getByText("and it costs $5 or $6.").waitFor();
  await answer.getByText("$not maths$", { exact: true }).waitFor();
  expect(await answer.locator("a, img").count()).toBe(0);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a tool call is made with all digits that the model wrote", async () => {
  const { page, context, problems } = await world.portalPage();
  await withTools(page, "tools");
  await say(page, 'call echo {"text":"pay","account":9007199254740993}');
  const held = page.getByRole("region", { name: "Call of echo on tools" });
  await held.getByText("Waiting for approval").waitFor();
  await held.getByText("Arguments").click();
  await held.getByText("9007199254740993").waitFor();
  const { approvals } = (await world.admin.get("/v1/admin/approvals?status=pending")) as any;
  expect(approvals.map((one: any) => one.call_arguments_text)).toContain('{"text":"pay","account":9007199254740993}');
  await page.getByRole("button", { name: "Stop" }).click();
  expect(problems).toEqual([]);
  await context.close();
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { grant, stateless } from "../e2e/tools/mcp-harness.ts";
import { signIn } from "../support/worlds/admin.ts";
import { startStatelessServer, type ToolServerFixture } from "../support/tool-servers/tool-servers.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { portalClient } from "../support/worlds/portal.ts";
import { ADMIN_PASSWORD } from "../support/gateway.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;
let tools: ToolServerFixture;
let serverId: string;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld();
  tools = startStatelessServer();
  const groups = (await world.admin.get("/v1/admin/resource-groups")) as any;
  serverId = (await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: tools.baseUrl })).id;
  await grant(world.admin, "tools", serverId, [groups.resource_groups[0].id], { approval_required_tools: ["echo"] });
});
afterAll(async () => {
  await tools?.stop();
  await world?.end();
});

const HOSTILE = "<img src=x onerror=\"document.title='owned'\"> delete everything";

function callTool(text = HOSTILE, credential = world.apiKey): Promise<Response> {
  return fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${serverId}`, {
    method: "POST",
    headers: { authorization: `Bearer ${credential}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify(stateless(1, "tools/call", { name: "echo", arguments: { text } })),
  });
}

withBrowser("a held call is approved on a phone with its complete arguments in view", async () => {
  const asked = await callTool();
  const id = asked.headers.get("x-gw-approval-id");
  expect(id).not.toBeNull();
  const { page, context, problems } = await world.portalPage({ at: "/approvals", width: 320, height: 720 });
  await page.getByText("If you approve").waitFor();
  expect(await page.locator("dd pre").textContent()).toBe(HOSTILE);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Nothing to approve").waitFor();
  await page.getByRole("link", { name: "All", exact: true }).click();
  await page.getByText("by user").waitFor();
  expect(await page.title()).toBe("Approvals · Gatehouse Portal");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an approver sees invisible and direction characters of the arguments, in the order sent", async () => {
  // The text between the two controls is rendered right to left, and the tag character at the end is not rendered at all.
  const turned = "delete \u202Eton od\u202C all\u{E0041}";
  const hidden = "pass\u200D\u200Cword";
  const honest = "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645 \u{1F468}\u200D\u{1F469} \u2764\uFE0F";
  const asked = await callTool(`${turned} ${hidden} ${honest}`);
  const { page, context, problems } = await world.portalPage({ at: "/approvals" });
  const shown = page.locator("dd pre");
  await shown.waitFor();
  expect(await shown.textContent()).toBe(`delete U+202Eton odU+202C allU+E0041 passU+200D U+200Cword ${honest}`);
  expect(await accessibilityFindings(page)).toEqual([]);
  const { page: console, context: other } = await world.consolePage({ at: "/approvals" });
  await console.getByText("U+202E", { exact: true }).waitFor();
  await world.admin.post(`/v1/admin/approvals/${asked.headers.get("x-gw-approval-id")}/reject`, {});
  await other.close();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a person's own request is shown without buttons to decide, and is not counted", async () => {
  const { body } = await portalClient(world.gateway.runtimeUrl).request("POST", "/auth/login", world.person);
  const id = (await callTool("of my own", body.access_token)).headers.get("x-gw-approval-id");
  const { page, context, problems } = await world.portalPage({ at: "/approvals" });
  await page.getByText("Someone else must approve this call.").waitFor();
  await page.getByText("of my own").waitFor();
  expect(await page.getByRole("button", { name: /Approve|Reject/ }).count()).toBe(0);
  expect(await page.getByRole("link", { name: /^Approvals/ }).textContent()).toBe("Approvals");
  expect(await accessibilityFindings(page)).toEqual([]);
  await world.admin.post(`/v1/admin/approvals/${id}/reject`, {});
  await page.getByText("Nothing to approve").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a call with a key that the person created as an administrator can be rejected but not approved", async () => {
  const { username } = world.person;
  await world.admin.post("/v1/admin/admin-users", { username, password: ADMIN_PASSWORD, role: "owner", tenant_id: "default" });
  const admin = await signIn(world.gateway.adminUrl, { username, password: ADMIN_PASSWORD, tenant_id: "default" }, "tenant");
  const groups = (await admin.get("/v1/admin/resource-groups")) as any;
  const path = `/v1/admin/resource-groups/${groups.resource_groups[0].id}/api-keys`;
  const { key } = await admin.post(path, { name: "made by oneself", access_mode: "shared" });
  await callTool("with a key of my own", key);
  const { page, context, problems } = await world.portalPage({ at: "/approvals" });
  await page.getByText("with a key of my own").waitFor();
  await page.getByText("Someone else must approve this call.").waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByText("Nothing to approve").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an approver sees all digits of the arguments, and can decide on deeply nested arguments", async () => {
  const nested = `${"[".repeat(400)}${"]".repeat(400)}`;
  const body = JSON.stringify(
    stateless(1, "tools/call", { name: "echo", arguments: { text: "to pay", account: "ACCOUNT", more: "NESTED" } }),
  );
  const asked = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${serverId}`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: body.replace('"ACCOUNT"', "9007199254740993").replace('"NESTED"', nested),
  });
  expect(asked.headers.get("x-gw-approval-id")).not.toBeNull();
  const { page, context, problems } = await world.portalPage({ at: "/approvals" });
  await page.locator("dd pre").getByText("to pay").waitFor();
  expect(await page.locator("dd pre").nth(1).textContent()).toBe("9007199254740993");
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByText("Nothing to approve").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a new held call appears without a reload", async () => {
  const { page, context, problems } = await world.portalPage({ at: "/approvals" });
  await page.getByText("Nothing to approve").waitFor();
  await callTool();
  await page.getByText("If you approve").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a held call that arrived between two event streams is shown when the stream reopens", async () => {
  const { page, context, problems } = await world.portalPage({ at: null });
  let opened = 0;
  await page.route("**/v1/portal/events", async (route) => {
    if (opened++ === 0) return route.fulfill({ contentType: "text/event-stream", body: "event: ready\ndata: {}\n\n" });
    if (opened === 2) await callTool("told by no stream");
    return route.continue();
  });
  await page.goto(`${world.portal}/approvals`);
  await page.locator("dd pre").getByText("told by no stream").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("every held call can be reached by paging, in the portal and in the console", async () => {
  const texts = Array.from({ length: 52 }, (_, at) => `text ${at}`);
  while (texts.length > 0) await Promise.all(texts.splice(-13).map((text) => callTool(text)));
  const { total } = await world.admin.get("/v1/admin/approvals?status=pending");
  expect(total).toBeGreaterThan(50);
  const { page, context, problems } = await world.portalPage({ at: "/approvals" });
  await page.getByText("If you approve").nth(49).waitFor();
  await page.getByRole("button", { name: "Show more" }).click();
  await page
    .getByText("If you approve")
    .nth(total - 1)
    .waitFor();
  expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);

  await page.goto(`${world.console}/`);
  await signInOn(page, "admin", ADMIN_PASSWORD);
  // The first page refers to the same approvals.
  await page.getByText(`${total} pending approvals`).waitFor();
  await page.getByRole("link", { name: "Review approvals" }).click();
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page
    .getByRole("button", { name: "Approve", exact: true })
    .nth(total - 1)
    .waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

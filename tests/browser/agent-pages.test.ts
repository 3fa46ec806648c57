import { afterAll, beforeAll, expect, test } from "bun:test";
import { call, grantAgent, message, registerAgent } from "../e2e/agents/a2a-harness.ts";
import { type AgentFixture, startAgent } from "../support/tool-servers/agents.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, withinWidth } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;
let agent: AgentFixture;
let agentId = "";
let base = "";
let token = "";

beforeAll(async () => {
  if (chromiumPath() === null) return;
  [world, agent] = await Promise.all([startBrowserWorld({}), startAgent()]);
  const { resource_groups: groups } = await world.admin.get("/v1/admin/resource-groups?search=default");
  agentId = (await registerAgent(world.admin, "fixture", agent.url)).id;
  await grantAgent(world.admin, agentId, [groups[0].id]);
  base = `${world.gateway.runtimeUrl}/a2a/default/fixture`;
  const signedIn = await fetch(`${world.gateway.runtimeUrl}/v1/portal/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(world.person),
  });
  token = ((await signedIn.json()) as { access_token: string }).access_token;
});
afterAll(async () => {
  await world?.end();
  await agent?.stop();
});

const send = async (text: string, configuration: object = {}): Promise<any> =>
  (
    await call(
      base,
      "",
      "POST",
      "/message:send",
      { ...message(text), configuration },
      { authorization: `Bearer ${token}`, "x-api-key": "" },
    )
  ).body.task;

withBrowser("a person sees their own tasks, reads the messages and stops one", async () => {
  const { page, context, problems } = await world.portalPage({ at: "/tasks", width: 320, height: 700, theme: "dark" });
  await page.getByText("No tasks yet").waitFor();
  await send("complete <b>bold</b> words");
  await send("hold on", { returnImmediately: true });
  await page.reload();
  const stop = page.getByRole("button", { name: "Stop task" });
  const done = page.getByRole("listitem").filter({ hasText: "Completed" });
  await stop.waitFor();
  await done.first().getByRole("button", { name: "Show messages" }).click();
  await page.getByText("<b>bold</b> words", { exact: true }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await withinWidth(page, 320);
  await page.getByRole("button", { name: "Show messages" }).first().click();
  await page.getByText("Working", { exact: true }).first().waitFor();
  await stop.click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop task" }).click();
  await page.getByText("Stopped", { exact: true }).first().waitFor();
  expect(problems).toEqual([]);
  await context.close();
  agent.release();
});

withBrowser("an administrator sees an agent's card, protocol versions and tasks, and accepts a changed card", async () => {
  const { page, context, problems } = await world.consolePage({ at: null });
  const { id } = await send("complete <i>words</i>");
  await page.goto(`${world.console}/manage/agents/${agentId}`);
  await page.getByText("unsigned", { exact: true }).waitFor();
  await page
    .getByText(/A2A 1\.0 over HTTP\+JSON at http/)
    .first()
    .waitFor();
  await page.getByText("allow", { exact: true }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);

  agent.setCard({
    skills: [
      { id: "talk", name: "Talk", description: "Talks otherwise.", tags: ["talk"] },
      { id: "steal", name: "Steal", description: "x", tags: ["x"] },
    ],
  });
  await page.getByRole("button", { name: "Refresh agent card" }).click();
  await page.getByText("waits for the changed card").waitFor();
  const changes = page.locator("section").filter({ has: page.getByRole("heading", { name: "What changed in its card" }) });
  for (const [what, skill] of [
    ["new skill", "steal"],
    ["skill gone", "count"],
    ["skill changed", "talk"],
  ] as const)
    await changes.getByRole("listitem").filter({ hasText: what }).filter({ hasText: skill }).first().waitFor();
  const refused = await call(base, world.apiKey, "POST", "/message:send", message("complete x"));
  expect(refused.status).toBe(403);
  await page.getByRole("button", { name: "Accept the changed card" }).click();
  await page.getByText("waits for the changed card").waitFor({ state: "detached" });

  await page.getByRole("link", { name: id }).click();
  await page.getByRole("heading", { name: "Lifecycle" }).waitFor();
  await page.getByRole("link", { name: "a2a: message send" }).waitFor();
  await page.getByText("<i>words</i>").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an administrator sees the key that signs agent cards, and rotates it", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/agent-signing-keys" });
  const [before] = (await world.admin.get("/v1/admin/agent-signing-keys")).keys;
  const old = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: before.kid }) });
  await old.getByText("signs", { exact: true }).waitFor();
  await old.getByText(before.public_key).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByLabel("The key before signs beside it").selectOption("for a day");
  await page.getByRole("button", { name: "Rotate the key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate the key" }).click();
  await old.getByText("signs until").waitFor();
  const { keys } = await world.admin.get("/v1/admin/agent-signing-keys");
  expect(keys.map(({ kid }: { kid: string }) => kid)).toEqual([expect.any(String), before.kid]);
  expect(Date.parse(keys[1].retires_at) - Date.parse(keys[0].created_at)).toBe(86_400_000);
  await page.getByRole("heading", { name: keys[0].kid }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a task ID with reserved characters is requested unchanged", async () => {
  const read = await fetch(`${world.gateway.runtimeUrl}/v1/portal/agent-tasks/${agentId}/50%25`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(read.status).toBe(404);
});

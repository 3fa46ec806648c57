import { afterAll, beforeAll, expect, test } from "bun:test";
import { signIn } from "../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../support/gateway.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;
let group: { id: string };

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  const { admin } = world;
  await admin.post("/v1/admin/admin-users", { tenant_id: "default", username: "reviewer", password: ADMIN_PASSWORD, role: "owner" });
  group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "helpdesk" });
  await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "own-echo", api_format: "echo" });
  await admin.post("/v1/admin/llms", { tenant_id: "default", name: "thinker", provider: "own-echo", group_ids: [group.id] });
});
afterAll(() => world?.end());

withBrowser("a group is registered as an AI System, put under contract, suspended and restored", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/manage/ai-systems/new" });
  await page.getByLabel("Group", { exact: true }).fill("helpdesk");
  await page.getByRole("option", { name: "helpdesk" }).click();
  await page.getByLabel("Owner").fill("Ada");
  await page.getByRole("button", { name: "Create AI System" }).click();
  await page.getByRole("heading", { name: "helpdesk", level: 1 }).waitFor();
  await page.getByRole("heading", { name: "Governance gaps" }).waitFor();
  await page.getByText("Set purpose on the AI System.").first().waitFor();
  await page.getByLabel("Interacts with people").selectOption("No");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. Takes effect with the next call.").waitFor();
  expect((await world.admin.get(`/v1/admin/ai-systems/${group.id}`)).interacts_with_people).toBe(false);
  expect(await page.getByRole("button", { name: "To assessed" }).isDisabled()).toBe(true);

  await page.getByRole("button", { name: "Create from configuration" }).click();
  await page.getByText("Version 1", { exact: true }).waitFor();
  await page.getByLabel("Reason (version 1)").fill("mine");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Whoever minted a version of a contract cannot approve it.").waitFor();
  const models = page.getByRole("region", { name: "models" });
  await models.getByText("widened").waitFor();
  await models.getByText("not there").waitFor();
  await models.getByText('"name": "thinker"').waitFor();
  const account = { tenant_id: "default", username: "reviewer", password: ADMIN_PASSWORD };
  const reviewer = await signIn(world.gateway.adminUrl, account, "tenant");
  const { contracts } = await reviewer.get(`/v1/admin/ai-systems/${group.id}/contracts`);
  await reviewer.post(`/v1/admin/contracts/${contracts[0].id}/approve`, { reason: "read it" });
  await page.reload();
  await page.getByRole("button", { name: "Activate" }).click();
  await page.getByText("the configuration conforms", { exact: true }).waitFor();

  await page.getByLabel("Reason", { exact: true }).fill("it sends odd mails");
  await page.getByRole("button", { name: "To suspended" }).click();
  await page.getByRole("button", { name: "To in service" }).waitFor();
  expect((await world.admin.get(`/v1/admin/ai-systems/${group.id}`)).lifecycle_state).toBe("suspended");

  await page.getByRole("button", { name: "Capture report" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download", exact: true }).click(),
  ]);
  expect(download.suggestedFilename()).toStartWith("certificate-");
  await page.getByRole("button", { name: /^Revoke the certificate of/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("The test report was withdrawn.");
  await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("Revoked by admin: The test report was withdrawn.").waitFor();
  expect(await page.getByRole("button", { name: "Download", exact: true }).count()).toBe(0);
  await page.evaluate(() => scrollTo(0, 0));
  const pictures = process.env["PICTURES"];
  if (pictures !== undefined) await page.screenshot({ path: `${pictures}/system.png`, fullPage: true });
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an AI System is retired permanently only after typing the word", async () => {
  const { id } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "of yesterday" });
  await world.admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: id });
  const state = async () => (await world.admin.get(`/v1/admin/ai-systems/${id}`)).lifecycle_state;
  const { page, context, problems } = await world.consolePage({ at: `/manage/ai-systems/${id}` });
  await page.getByLabel("Reason", { exact: true }).fill("nobody uses it");
  await page.getByRole("button", { name: "To retired" }).click();
  const question = page.getByRole("dialog", { name: "Retire this system?" });
  expect(await question.getByRole("button", { name: "Retire" }).isDisabled()).toBe(true);
  expect(await state()).toBe("registered");
  await question.getByLabel("Type retire to go on").fill("retire");
  await question.getByRole("button", { name: "Retire" }).click();
  await page.getByText("This system is retired. It can be viewed but not changed.").waitFor();
  expect(await state()).toBe("retired");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the baseline is shown as a curve, and recorded calls are replayed", async () => {
  const { admin } = world;
  await admin.request("PATCH", "/v1/admin/tenants/default", { data_retention: { store_bodies: "full" } });
  const busy = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "busy" });
  const key = await admin.post(`/v1/admin/resource-groups/${busy.id}/api-keys`, { name: "busy" });
  await admin.post("/v1/admin/llms", { tenant_id: "default", name: "talker", provider: "own-echo", group_ids: [busy.id] });
  await admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: busy.id });
  for (let call = 0; call < 3; call++) {
    const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key.key_value },
      body: JSON.stringify({ model: "talker", messages: [{ role: "user", content: `question ${call}` }] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
  }
  const { page, context, problems } = await world.consolePage({ at: `/manage/ai-systems/${busy.id}` });
  await page.getByRole("heading", { name: "Baseline" }).waitFor();
  await page.getByText("0 of 1,000 calls were seen").or(page.getByText("3 of 1,000 calls were seen")).waitFor();
  await page.getByText("checkpoints", { exact: true }).waitFor();
  await page.getByText("No suite yet.").waitFor();
  await page.getByRole("button", { name: "Create suite" }).click();
  await page.getByText("1, 3 cases, each 3 times").waitFor();
  await page.getByRole("button", { name: "Run suite" }).click();
  await page.getByText(/^passed, requested/).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser.each([
  [1440, "light"],
  [320, "dark"],
] as const)("the page of an AI System is accessible and fits, %d pixels wide, %s", async (width, theme) => {
  const { page, context, problems } = await world.consolePage({ at: `/manage/ai-systems/${group.id}`, width, theme });
  await page.getByRole("heading", { name: "Certificates" }).waitFor();
  await page.waitForFunction(() => document.querySelector("main [aria-label^=Loading]") === null);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(problems).toEqual([]);
  await context.close();
});

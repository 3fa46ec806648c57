import { afterAll, beforeAll, expect, test } from "bun:test";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

withBrowser("a model is imported from the catalogue with its prices, and gets limits of its own in a group", async () => {
  const [group] = ((await world.admin.get("/v1/admin/resource-groups?search=default")) as any).resource_groups;
  const { page, context, problems } = await world.consolePage({ at: "/model-catalog?q=gpt-4o-mini" });
  await page.getByRole("button", { name: "Take over gpt-4o-mini of OpenAI", exact: true }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name", { exact: true }).fill("small");
  await form.getByLabel("default", { exact: true }).check();
  expect(await accessibilityFindings(page)).toEqual([]);
  await form.getByRole("button", { name: "Import" }).click();
  await page.getByRole("heading", { name: "small", level: 1 }).waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1);
  const model = await world.admin.get(`/v1/admin/llms/${id}`);
  expect(model).toMatchObject({ model_name: "gpt-4o-mini", provider: "openai", group_ids: [group.id] });
  expect(model.input_cost_per_million_tokens).toBeGreaterThan(0);

  await page.goto(`${world.console}/manage/resource-groups/${group.id}`);
  const rules = page.getByRole("button", { name: "Overrides: small" });
  await rules.click();
  const limits = page.locator("section section").filter({ has: page.getByRole("heading", { name: "Limits of small", exact: true }) });
  await limits.getByText("Edit").click();
  const daily = limits.getByRole("group", { name: "Requests" }).getByLabel("Daily limit", { exact: true });
  await daily.fill("5");
  // Collapsing a section does not lose its input.
  await rules.click();
  expect(await daily.isVisible()).toBe(false);
  await rules.click();
  expect(await daily.inputValue()).toBe("5");
  await limits.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Limits of small: saved. Takes effect with the next call.").waitFor();
  expect((await world.admin.get(`/v1/admin/resource-groups/${group.id}/llm-models/${id}/limits`)).limits).toEqual({
    requests: { daily_limit: 5 },
  });
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an AI System gets an envelope and evidence, and concurrent changes of the envelope survive", async () => {
  const group = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "enveloped" });
  await world.admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: group.id });
  const path = `/v1/admin/ai-systems/${group.id}`;
  const { page, context, problems } = await world.consolePage({ at: `/manage/ai-systems/${group.id}` });
  const envelope = page.locator("section").filter({ has: page.getByRole("heading", { name: "Operating envelope", exact: true }) });
  await envelope.getByText("Edit").click();
  const calls = envelope.getByLabel("Max model calls per run", { exact: true });
  await calls.fill("9");
  await envelope.getByLabel("Autonomy level", { exact: true }).selectOption("approval_required");
  await envelope.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Operating envelope: saved. Takes effect with the next call.").waitFor();
  expect(await world.admin.get(`${path}/envelope`)).toMatchObject({ max_llm_calls_per_run: 9, autonomy_level: "approval_required" });
  await calls.fill("12");
  await world.admin.request("PUT", `${path}/envelope`, { max_llm_calls_per_run: 3, autonomy_level: "restricted" });
  await envelope.getByRole("button", { name: "Save", exact: true }).click();
  await envelope.getByText("Somebody else has changed this meanwhile. Nothing was saved.").waitFor();
  expect(await world.admin.get(`${path}/envelope`)).toMatchObject({ max_llm_calls_per_run: 3, autonomy_level: "restricted" });

  await envelope.getByRole("button", { name: "Show the current version" }).click();
  await page.getByText("Attach evidence", { exact: true }).click();
  const evidence = page.locator("section").filter({ has: page.getByRole("heading", { name: "Evidence", exact: true }) });
  await evidence.getByLabel("Kind", { exact: true }).selectOption("test_report");
  await evidence.getByLabel("Title", { exact: true }).fill("Tested");
  await evidence.getByLabel("URI", { exact: true }).fill("https://documents.example/report");
  await evidence.getByLabel("Sha256", { exact: true }).fill("a".repeat(64));
  await evidence.getByRole("button", { name: "Attach", exact: true }).click();
  await evidence.getByRole("link", { name: "Tested" }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await evidence.getByRole("button", { name: "Detach Tested" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Detach", exact: true }).click();
  await evidence.getByText("None yet. Attach assessments").waitFor();
  expect((await world.admin.get(`${path}/evidence`)).evidence).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a tool server's address is tested before it is created, with the result shown", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/manage/tool-servers/new" });
  await page.getByLabel("Name", { exact: true }).fill("tried");
  await page.getByLabel("Base URL", { exact: true }).fill(`${world.gateway.runtimeUrl}/nowhere`);
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByRole("status").getByText("inconclusive", { exact: true }).waitFor();
  expect(((await world.admin.get("/v1/admin/mcp-servers")) as any).total).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the OAuth client for a tool server's issuer is entered, changed without its secret, and removed", async () => {
  const { id } = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "calendar",
    base_url: `${world.gateway.runtimeUrl}/nowhere`,
    auth_type: "oauth",
  });
  const path = `/v1/admin/mcp-servers/${id}/oauth-client`;
  const { page, context, problems } = await world.consolePage({ at: `/manage/tool-servers/${id}` });
  await page.getByText("Enter a client", { exact: true }).click();
  await page.getByLabel("Issuer", { exact: true }).fill("https://accounts.example");
  await page.getByLabel("Client ID", { exact: true }).fill("gateway");
  await page.getByLabel("Client secret", { exact: true }).fill("a secret of a kind");
  await page.getByRole("button", { name: "Enter the client" }).click();
  await page.getByText("stored, sent by client_secret_basic").waitFor();
  const { idp_server_id: idp } = await world.admin.get(path);
  await page.getByText(`/v1/proxy/oauth/${id}/${idp}/callback`, { exact: true }).waitFor();
  await page.getByText("Enter another client", { exact: true }).waitFor();
  await page.getByLabel("Scopes", { exact: true }).fill("calendar.read");
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Enter the client" }).click();
  await page.getByRole("definition").getByText("calendar.read", { exact: true }).waitFor();
  expect(await world.admin.get(path)).toMatchObject({ client_id: "gateway", has_client_secret: true, scopes: ["calendar.read"] });
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("Enter a client", { exact: true }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

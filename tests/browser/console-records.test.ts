import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { RECORD_KINDS } from "../../web/console/src/records/record-kinds.ts";
import { rowOf } from "../support/worlds/admin.ts";
import { startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { newPerson } from "../support/worlds/portal.ts";
import { until } from "../support/until.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, goWithin } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
});
afterAll(() => world?.end());

const submitted = async (page: Page, name: string) => {
  await page.getByRole("button", { name, exact: true }).click();
};

withBrowser("an administrator's first hour: provider, model, group, key, call, limit, guardrail, row", async () => {
  const upstream = startFakeUpstream();
  const { page, context, problems } = await world.consolePage();
  await page.getByRole("heading", { name: "First steps" }).waitFor();
  // The sample uses the address at which the gateway takes calls.
  await page.getByText(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`).waitFor();

  await page.getByRole("link", { name: "Name a provider" }).click();
  await page.getByLabel("Provider key").fill("ours");
  await page.getByLabel("API format").selectOption("openai");
  await page.getByLabel("Base URL").fill(upstream.baseUrl);
  await page.getByLabel("API key").fill("sk-upstream-secret-0001");
  await submitted(page, "Create provider");
  await page.getByRole("heading", { name: "ours", level: 1 }).waitFor();
  expect(await page.content()).not.toContain("sk-upstream-secret-0001");

  await page.goto(`${world.console}/manage/resource-groups/new`);
  await page.getByLabel("Name", { exact: true }).fill("research");
  await submitted(page, "Create resource group");
  await page.getByRole("heading", { name: "research", level: 1 }).waitFor();
  const groupPage = page.url();

  await page.goto(`${world.console}/manage/models/new`);
  await page.getByLabel("Name", { exact: true }).fill("fake-1");
  await page.getByLabel("Provider", { exact: true }).fill("ours");
  await page.getByRole("option", { name: "ours" }).click();
  await page.getByLabel("research").check();
  await submitted(page, "Create model");
  await page.getByRole("heading", { name: "fake-1", level: 1 }).waitFor();

  await page.goto(`${world.console}/manage/api-keys/new`);
  await page.getByLabel("Resource group", { exact: true }).fill("research");
  await page.getByRole("option", { name: "research" }).click();
  await page.getByLabel("Name", { exact: true }).fill("first application");
  await submitted(page, "Create API key");
  const key = await page.locator("code", { hasText: /^sk_gw_api_/ }).innerText();
  await page.getByRole("link", { name: "I have it" }).click();
  await page.getByRole("heading", { name: "first application", level: 1 }).waitFor();
  expect(await page.content()).not.toContain(key);

  await page.goto(groupPage);
  const limits = page
    .getByRole("region", { name: "Limits and budgets of models" })
    .or(page.locator("section", { hasText: "Limits and budgets of models" }));
  await limits.getByText("Edit").click();
  await limits.getByLabel("Daily limit", { exact: true }).first().fill("100");
  await limits.getByRole("button", { name: "Preview changes" }).click();
  await limits.getByRole("status").getByText("nothing → 100").waitFor();
  await limits.getByRole("button", { name: "Save" }).click();
  await limits.getByText("set here", { exact: true }).waitFor();

  await page.goto(`${world.console}/manage/guardrails/new`);
  await page.getByLabel("Name", { exact: true }).fill("no titan");
  await page.locator("summary", { hasText: "Banned words" }).click();
  await page.getByLabel("Banned words", { exact: true }).fill("titan");
  await submitted(page, "Create guardrail");
  await page.getByRole("heading", { name: "no titan", level: 1 }).waitFor();
  const bench = page.locator("section", { hasText: "Test with a text" });
  await bench.getByLabel("Text", { exact: true }).fill("project titan");
  await bench.getByLabel("Surface").selectOption("chat_input");
  await bench.getByRole("button", { name: "Test with a text" }).click();
  await bench.getByRole("status").getByText("banned_word", { exact: true }).waitFor();

  await page.goto(`${world.console}/manage/argument-policies/new`);
  await page.getByLabel("Name", { exact: true }).fill("reads only");
  await page.getByLabel("Target").fill("run_query");
  await page.getByLabel("Argument key").fill("sql");
  await page.getByLabel("Analyzer").selectOption("sql");
  await page.getByRole("button", { name: "Add" }).first().click();
  await page.getByLabel("Deny if").fill("writes");
  await page.getByLabel("Message").fill("Reads only.");
  await submitted(page, "Create argument policy");
  await page.getByRole("heading", { name: "reads only", level: 1 }).waitFor();
  const trial = page.locator("section", { hasText: "Test with arguments" });
  await trial.getByLabel("Arguments", { exact: true }).fill('{"sql":"drop table t"}');
  await trial.getByRole("button", { name: "Test with arguments" }).click();
  await trial.getByRole("status").getByText("Reads only.", { exact: true }).waitFor();

  const ask = (content: string) =>
    fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content }] }),
    });
  const blocked = await ask("project titan");
  const served = await ask("hello");
  expect([blocked.status >= 400, served.status]).toEqual([true, 200]);
  await rowOf(world.admin, { id: served.headers.get("x-request-id") });
  await page.goto(`${world.console}/audit`);
  await page.getByRole("table", { name: "Rows of the ledger" }).getByText("fake-1", { exact: true }).first().waitFor();
  await page.getByRole("link", { name: "Usage and runs" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("input")].some(({ value }) => value !== ""));
  await page.getByLabel("Resource group", { exact: true }).fill("research");
  await page.getByRole("option", { name: "research" }).click();
  await page.getByRole("table", { name: "Runs" }).getByRole("link").first().waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.goto(`${world.console}/`);
  await page.getByRole("heading", { name: /^Latest \d+ calls$/ }).waitFor();
  expect(await page.getByRole("heading", { name: "First steps" }).count()).toBe(0);

  expect(problems).toEqual([]);
  await context.close();
  await upstream.stop();
});

withBrowser("a refusal is shown at its field, a change is undone, and deletion needs the record's name typed", async () => {
  const hostile = '<img src=x onerror="document.title=1">';
  const { id } = await world.admin.post("/v1/admin/resource-groups", { name: hostile, display_name: "before" });
  const { page, context, problems } = await world.consolePage({ at: "/manage/resource-groups/new" });
  await page.getByLabel("Name", { exact: true }).fill("default");
  await submitted(page, "Create resource group");
  await page.getByRole("alert").getByText("There is already a resource group of this name.").waitFor();
  await page.goto(`${world.console}/manage/providers/new`);
  await page.getByLabel("Provider key").fill("NOT A KEY");
  await page.getByLabel("API format").selectOption("echo");
  await submitted(page, "Create provider");
  const field = page.getByLabel("Provider key");
  await page.locator("[aria-invalid=true]").waitFor();
  expect(await field.getAttribute("aria-invalid")).toBe("true");

  await page.goto(`${world.console}/manage/resource-groups/${id}`);
  await page.getByLabel("Display name").fill("after");
  await submitted(page, "Save");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("input")].some((one) => one.value === "before"));
  expect((await world.admin.get(`/v1/admin/resource-groups/${id}`)).display_name).toBe("before");

  await submitted(page, "Delete");
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  expect(await accessibilityFindings(page)).toEqual([]);
  await dialog.getByLabel(/^Type /).fill(hostile);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Resource groups", level: 1 }).waitFor();
  expect((await world.admin.request("GET", `/v1/admin/resource-groups/${id}`)).status).toBe(404);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a refusal of a list entry or of a group's limit is shown at that field", async () => {
  const { id } = await world.admin.post("/v1/admin/resource-groups", { name: "with ceilings" });
  const { page, context, problems } = await world.consolePage({ at: "/manage/argument-policies/new" });
  await page.getByLabel("Name", { exact: true }).fill("read only");
  await page.getByLabel("Target", { exact: true }).fill("run_query");
  await page.getByLabel("Argument key", { exact: true }).fill("sql");
  await page.getByLabel("Analyzer", { exact: true }).selectOption("sql");
  await page.getByRole("button", { name: "Add to rules" }).click();
  const rule = page.getByLabel("Deny if", { exact: true });
  await rule.fill("nonsense");
  await page.getByLabel("Message", { exact: true }).fill("No.");
  await submitted(page, "Create argument policy");
  await page.locator("[aria-invalid=true]").waitFor();
  expect(await rule.getAttribute("aria-invalid")).toBe("true");
  await rule.fill("writes");
  await submitted(page, "Create argument policy");
  await page.getByRole("heading", { name: "read only", level: 1 }).waitFor();

  await page.goto(`${world.console}/manage/resource-groups/${id}`);
  const ceilings = page.locator("section").filter({ has: page.getByRole("heading", { name: "Ceilings of a run", exact: true }) });
  await ceilings.getByText("Edit").click();
  const cost = ceilings.getByLabel("Max cost per run USD", { exact: true });
  await cost.fill("-1");
  await ceilings.getByRole("button", { name: "Save", exact: true }).click();
  await ceilings.locator("[aria-invalid=true]").waitFor();
  expect(await cost.getAttribute("aria-invalid")).toBe("true");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser(
  "a price is shown with all its decimals, and a record that applies to every group is not shown as applying to none",
  async () => {
    await world.admin.post("/v1/admin/providers", { provider_key: "priced", api_format: "openai", base_url: "https://priced.example/v1" });
    const prices = { input_cost_per_million_tokens: 0.0375, output_cost_per_million_tokens: 1.2345 };
    const cheap = await world.admin.post("/v1/admin/llms", { name: "cheap", provider: "priced", mode: "chat", ...prices });
    const ranks = { mode: "rerank", search_unit_cost_per_thousand: 2.5 };
    const rerank = await world.admin.post("/v1/admin/llms", { name: "ranks", provider: "priced", ...ranks });
    await world.admin.post("/v1/admin/guardrails/configs", { name: "for all" });
    const { page, context, problems } = await world.consolePage({ at: "/manage/models" });
    const row = page.getByRole("row").filter({ hasText: "cheap" });
    await row.getByText("$0.0375", { exact: true }).waitFor();
    await row.getByText("$1.2345", { exact: true }).waitFor();
    await page.goto(`${world.console}/manage/models/${rerank.id}`);
    expect(await page.getByLabel("Search unit cost per thousand", { exact: true }).inputValue()).toBe("2.5");
    await page.goto(`${world.console}/manage/models/${cheap.id}`);
    await page.getByLabel("Output cost per million tokens", { exact: true }).waitFor();
    expect(await page.getByLabel("Search unit cost per thousand", { exact: true }).count()).toBe(0);
    await page.goto(`${world.console}/manage/guardrails`);
    await page.getByRole("row").filter({ hasText: "for all" }).getByText("every group", { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  },
);

withBrowser("a key is rotated only after confirmation", async () => {
  const { id: group } = await world.admin.post("/v1/admin/resource-groups", {
    tenant_id: "default",
    name: "of one key",
    group_type: "team",
  });
  const { id, key_value: value } = await world.admin.post(`/v1/admin/resource-groups/${group}/api-keys`, { name: "in use" });
  const status = async () =>
    (await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { authorization: `Bearer ${value}` } })).status;
  const { page, context, problems } = await world.consolePage({ at: `/manage/api-keys/${id}` });
  await page.getByRole("button", { name: "Rotate key", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Rotate this key?" });
  await question.getByRole("button", { name: "Cancel", exact: true }).last().click();
  await question.waitFor({ state: "detached" });
  expect(await status()).toBe(200);
  await page.getByRole("button", { name: "Rotate key", exact: true }).click();
  await question.getByRole("button", { name: "Rotate key", exact: true }).click();
  await question.waitFor({ state: "detached" });
  await until(status, (now) => now === 401);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a person's two-factor sign-in is reset only after confirmation", async () => {
  const person = await newPerson(world.gateway.runtimeUrl as string, "lost-a-phone");
  const { page, context, problems } = await world.consolePage({ at: `/manage/people/${person.id}` });
  const sent: string[] = [];
  page.on("request", (request) => void (request.method() === "POST" && sent.push(new URL(request.url()).pathname)));
  const reset = page.getByRole("button", { name: "Reset two-factor sign-in" });
  await reset.click();
  const dialog = page.getByRole("dialog", { name: "Reset two-factor sign-in?" });
  await dialog.getByRole("button", { name: "Cancel", exact: true }).last().click();
  await dialog.waitFor({ state: "detached" });
  expect(sent.filter((path) => path.endsWith("/2fa/reset"))).toEqual([]);
  await reset.click();
  const done = page.waitForResponse((response) => response.url().endsWith("/2fa/reset") && response.ok());
  await dialog.getByRole("button", { name: "Reset two-factor sign-in" }).click();
  await done;
  expect(problems).toEqual([]);
  await context.close();
});

const AREAS = [...new Set(RECORD_KINDS.map(({ area }) => area))];

const LOOKS = [
  { width: 1440, theme: "light" },
  { width: 320, theme: "dark" },
] as const;

/** Each page opens as the one before was left, so every second one opens in a narrow window. */
async function looksRight(addresses: readonly string[]): Promise<void> {
  const { page, context, problems, settled } = await world.consolePage(LOOKS[0]);
  const findings: Record<string, unknown> = {};
  for (const [at, address] of addresses.entries()) {
    await goWithin(page, world.console + address);
    for (const { width, theme } of at % 2 === 0 ? LOOKS : LOOKS.toReversed()) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: theme });
      await settled();
      await page.locator("h1").waitFor();
      await page.waitForFunction(() => document.querySelector("main [aria-label^=Loading]") === null);
      const found = await accessibilityFindings(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (found.length > 0 || overflow > 0) findings[`${address} ${theme}`] = { found, overflow };
    }
  }
  expect(findings).toEqual({});
  expect(problems).toEqual([]);
  await context.close();
}

for (const area of AREAS)
  for (const [kind, suffix] of [
    ["lists", ""],
    ["forms", "/new"],
  ])
    withBrowser(`${kind} of ${area} are accessible and fit, in a wide light window and a narrow dark one`, () =>
      looksRight(RECORD_KINDS.filter((one) => one.area === area).map(({ slug }) => `/manage/${slug}${suffix}`)),
    );

withBrowser("pages besides records, and a group's pages, are accessible and fit, wide and light or narrow and dark", async () => {
  const { resource_groups: groups } = await world.admin.get("/v1/admin/resource-groups");
  await looksRight([
    "/approvals",
    "/admin-log",
    "/usage",
    "/erasure",
    "/notice",
    "/compliance",
    "/discovery",
    "/residency",
    "/usage-import",
    "/provisioning-log",
    "/agent-signing-keys",
    `/manage/resource-groups/${groups[0].id}`,
  ]);
});

withBrowser("the tenant's notice is written and reset, and a person is erased only after typing the word", async () => {
  const person = await newPerson(world.gateway.runtimeUrl as string, "to-be-erased");
  const { page, context, problems } = await world.consolePage({ at: "/notice" });
  await page.getByLabel("Texts").fill('{"en": "You speak with <b>an AI</b>."}');
  await submitted(page, "Save");
  await page.getByText("You speak with <b>an AI</b>.", { exact: true }).waitFor();
  expect((await world.admin.get("/v1/admin/notice-config")).texts.en).toBe("You speak with <b>an AI</b>.");
  await page.getByRole("button", { name: "Show the gateway's own again" }).click();
  const asked = page.getByRole("dialog", { name: "Show the gateway's own again?" });
  await asked.getByRole("button", { name: "Keep them" }).last().click();
  await asked.waitFor({ state: "detached" });
  await page.getByText("of this tenant", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Show the gateway's own again" }).click();
  await asked.getByRole("button", { name: "Show the gateway's own again" }).click();
  await page.getByText("the gateway's own", { exact: true }).waitFor();

  await page.goto(`${world.console}/erasure`);
  await page.getByLabel("Gateway user ID", { exact: true }).fill(person.id);
  await page.getByLabel("Reason").fill("asked by the person");
  await submitted(page, "Erase");
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByRole("button", { name: "Erase" }).isDisabled()).toBe(true);
  await dialog.getByLabel(/^Type /).fill("erase");
  await dialog.getByRole("button", { name: "Erase" }).click();
  await page.getByText("asked by the person", { exact: true }).waitFor();
  expect((await world.admin.request("GET", `/v1/admin/end-users/${person.id}`)).status).toBe(404);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("saving the notice keeps a declared exemption", async () => {
  const exemption = { asserted: true, basis: "other", rationale: "a trial among ourselves" };
  await world.admin.request("PUT", "/v1/admin/notice-config", { tenant_id: "default", texts: { en: "Before." }, exemption });
  const { page, context, problems } = await world.consolePage({ at: "/notice" });
  await page.getByLabel("Texts").fill('{"en": "After."}');
  await submitted(page, "Save");
  await page.getByText("After.", { exact: true }).waitFor();
  expect(await world.admin.get("/v1/admin/notice-config")).toMatchObject({ texts: { en: "After." }, exemption });
  await world.admin.request("DELETE", "/v1/admin/notice-config");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a form with invalid JSON in a field is not sent", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/notice" });
  const sent: unknown[] = [];
  page.on("request", (request) => void (request.method() === "PUT" && sent.push(request.postDataJSON().texts)));
  const texts = page.getByLabel("Texts");
  await texts.fill('{"en": "Half"}');
  await texts.fill('{"en": "Half", "de"');
  await page.getByText("This is not valid JSON.").waitFor();
  await submitted(page, "Save");
  await texts.fill('{"en": "Whole."}');
  await submitted(page, "Save");
  await page.getByText("Whole.", { exact: true }).waitFor();
  expect(sent).toEqual([{ en: "Whole." }]);

  // A field that was collapsed meanwhile is expanded again.
  await page.goto(`${world.console}/manage/argument-policies/new`);
  await page.getByLabel("Name", { exact: true }).fill("of a schema");
  await page.getByLabel("Target", { exact: true }).fill("set_mode");
  await page.getByText("more settings").click();
  const schema = page.getByLabel("Schema", { exact: true });
  await schema.fill("{");
  await page.getByText("more settings").click();
  await schema.waitFor({ state: "hidden" });
  await page.getByLabel("Analyzer", { exact: true }).selectOption("json_schema");
  await submitted(page, "Create argument policy");
  await schema.waitFor();
  expect(await schema.evaluate((element) => element === document.activeElement)).toBe(true);
  await world.admin.request("DELETE", "/v1/admin/notice-config");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("removing a list entry removes its input and keeps the other entries'", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/manage/argument-policies/new" });
  await page.getByLabel("Name", { exact: true }).fill("few values");
  await page.getByLabel("Target", { exact: true }).fill("set_mode");
  await page.getByLabel("Argument key", { exact: true }).fill("mode");
  await page.getByLabel("Analyzer", { exact: true }).selectOption("values");
  for (const [at, value] of ["first", "second"].entries()) {
    await page.getByRole("button", { name: "Add to rules" }).click();
    await page.getByLabel("Deny if", { exact: true }).nth(at).fill("not_in");
    await page.getByLabel("Message", { exact: true }).nth(at).fill(`Not ${value}.`);
    await page.getByLabel("Values", { exact: true }).nth(at).fill(value);
  }
  await page.getByRole("button", { name: "Remove rules 1" }).click();
  const values = page.getByLabel("Values", { exact: true });
  expect(await values.count()).toBe(1);
  expect(await values.inputValue()).toBe("second");
  await values.press("End");
  await values.pressSequentially("s");
  await submitted(page, "Create argument policy");
  await page.getByRole("heading", { name: "few values", level: 1 }).waitFor();
  const { argument_policies: policies } = await world.admin.get("/v1/admin/argument-policies?search=few%20values");
  expect(policies[0].rules).toEqual([{ deny_if: "not_in", message: "Not second.", values: ["seconds"] }]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a compliance framework is chosen, and each item of its report has a reason", async () => {
  const { page, context, problems, settled } = await world.consolePage({ at: "/compliance" });
  await page.getByRole("checkbox", { name: "HIPAA" }).check();
  await submitted(page, "Save");
  await page.getByText("Saved. Rows are tagged from the next call on.").waitFor();
  expect((await world.admin.get("/v1/admin/compliance/profile?tenant_id=default")).frameworks).toEqual(["hipaa"]);
  await page.getByLabel("Framework", { exact: true }).selectOption("hipaa");
  await page.getByText("164.312(b): Audit controls").waitFor();
  await page.getByText("No resource group is marked as handling health information.").first().waitFor();
  await submitted(page, "Seal the last 30 days of HIPAA");
  await page.getByText("Report sealed.").waitFor();
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("heading", { name: "Sealed report", exact: true }).waitFor();
  await page.getByRole("article", { name: "HIPAA" }).getByText("164.312(b): Audit controls").waitFor();
  await page.emulateMedia({ media: "print" });
  for (const name of ["Your frameworks", "Sealed reports"]) expect(await page.getByRole("heading", { name }).count()).toBe(0);
  for (const name of ["Print", "Save"]) expect(await page.getByRole("button", { name }).count()).toBe(0);
  expect(await page.getByRole("navigation").count()).toBe(0);
  await page.getByRole("heading", { name: "HIPAA", exact: true }).waitFor();
  await page.emulateMedia({ media: "screen" });
  await page.getByRole("checkbox", { name: "HIPAA" }).uncheck();
  await submitted(page, "Save");
  await page.getByRole("checkbox", { name: "HIPAA", checked: false }).waitFor();
  // The form is rebuilt from what was saved once that has been read again.
  await settled();
  await page.getByRole("checkbox", { name: "HIPAA" }).check();
  await world.admin.request("PATCH", "/v1/admin/compliance/profile?tenant_id=default", { frameworks: ["soc2"] });
  await submitted(page, "Save");
  await page.getByText("Somebody else has changed frameworks meanwhile. Nothing was saved.").waitFor();
  await page.getByRole("checkbox", { name: "SOC 2", checked: true }).waitFor();
  expect((await world.admin.get("/v1/admin/compliance/profile?tenant_id=default")).frameworks).toEqual(["soc2"]);
  await world.admin.request("PATCH", "/v1/admin/compliance/profile?tenant_id=default", { frameworks: [] });
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a provider's storage fields are shown only for formats that have them", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/manage/providers/new" });
  await page.getByLabel("Provider key").fill("aws");
  const shown = async (format: string): Promise<string[]> => {
    await page.getByLabel("API format").selectOption(format);
    const labels = await page.locator("label").allTextContents();
    return labels.filter((text) => text.startsWith("Storage")).map((text) => text.replace(/ \(.*/, ""));
  };
  await page.getByText("more settings").click();
  expect(await shown("openai")).toEqual([]);
  expect(await shown("vertex")).toEqual(["Storage URI", "Storage endpoint"]);
  expect(await shown("bedrock")).toEqual(["Storage URI", "Storage endpoint", "Storage role ARN"]);
  await page.getByLabel("Base URL").fill("https://bedrock-runtime.eu-central-1.amazonaws.com");
  await page.getByLabel("Storage URI").fill("gs://acme");
  await submitted(page, "Create provider");
  await page.getByText("must begin with s3:// for api_format bedrock").waitFor();
  await page.getByLabel("Storage URI").fill("s3://acme/gate");
  await submitted(page, "Create provider");
  await page.getByRole("heading", { name: "aws", level: 1 }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

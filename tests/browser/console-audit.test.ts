import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { rowOf, rowsOf } from "../support/worlds/admin.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, withinWidth } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
const HOSTILE = '<img src=x onerror="document.title=1"> sk-test';
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld();
});
afterAll(() => world?.end());

const call = (model: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: HOSTILE }] }),
  });

withBrowser("a security officer finds a call, reads its decisions, and verifies its place in the chain", async () => {
  const served = await call("echo");
  const refused = await call(HOSTILE);
  expect([served.status, refused.status]).toEqual([200, 404]);
  await rowOf(world.admin, { id: served.headers.get("x-request-id") });
  await rowOf(world.admin, { id: refused.headers.get("x-request-id") });

  const { page, context, problems } = await world.consolePage();
  await page.getByRole("heading", { name: /^Latest \d+ calls$/ }).waitFor();
  await page.getByRole("link", { name: "Show refused calls" }).click();
  const table = page.getByRole("table", { name: "Rows of the ledger" });
  const outcome = table.getByText("404 model_not_found");
  await outcome.waitFor();
  // The text is not cut off.
  expect(await outcome.evaluate(({ parentElement: cell }) => cell !== null && cell.scrollWidth <= cell.clientWidth)).toBe(true);
  expect(await table.getByText("quick start", { exact: true }).count()).toBeGreaterThan(0);
  expect(await table.getByText("echo", { exact: true }).count()).toBe(0);

  await page.getByLabel("Outcome").selectOption("ok");
  await page.getByLabel("Kind").selectOption("llm");
  await page.getByLabel("Period").selectOption("Yesterday");
  await page.getByRole("heading", { name: "No rows" }).waitFor();
  expect(await page.getByLabel("Until").inputValue()).toMatch(/T00:00$/);
  await page.getByLabel("Period").selectOption("The last 7 days");
  await table.getByText("echo", { exact: true }).click();
  await page.getByRole("heading", { name: "Decisions" }).waitFor();
  expect(new URL(page.url()).searchParams.get("row")).toBe(served.headers.get("x-request-id"));
  await page.getByRole("button", { name: "Verify this row and its neighbours" }).click();
  await page.getByText(/\d+ rows and \d+ checkpoints checked/).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);

  // The URL is enough to restore the view.
  await page.reload();
  await page.getByRole("heading", { name: "Decisions" }).waitFor();
  expect(await page.title()).toContain("Audit explorer");
  await page.setViewportSize({ width: 320, height: 700 });
  await withinWidth(page, 320);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a redacted call is found by its outcome, with its time to the second", async () => {
  const builtin = { pii_enabled: true, pii_action: "redact" };
  const { id } = await world.admin.post("/v1/admin/guardrails/configs", { name: "no addresses", builtin });
  const ask = async (content: string) => {
    const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "echo", messages: [{ role: "user", content }] }),
    });
    await answer.arrayBuffer();
    return answer.headers.get("x-request-id");
  };
  const redacted = await ask("Write to jane.doe@mail.example today.");
  const [row] = await rowsOf(world.admin, { id: redacted }, 1);
  await rowsOf(world.admin, { id: await ask("Nothing to hide.") }, 1);
  expect(row).toMatchObject({ success: true, guardrail_action: "redact" });

  const { page, context, problems } = await world.consolePage({ at: "/audit" });
  await page.getByLabel("Outcome").selectOption("Redacted by a guardrail");
  const table = page.getByRole("table", { name: "Rows of the ledger" });
  await table.getByText("redacted", { exact: true }).waitFor();
  await page.getByText("1 row", { exact: true }).waitFor();
  expect(await table.getByRole("row").nth(1).getByRole("cell").first().textContent()).toMatch(/:\d\d:\d\d [AP]M (?:UTC|GMT)/);
  // All columns fit into a desktop window.
  expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  await page.reload();
  await page.getByText("1 row", { exact: true }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
  await world.admin.request("DELETE", `/v1/admin/guardrails/configs/${id}`);
});

withBrowser("a value links to all rows that have it, a row to its neighbours and its run, and a chain is verified", async () => {
  const run = { "x-gw-run-id": "a-run-of-two" };
  const first = await call("echo", { ...run, "x-gw-turn-id": "one", "x-gw-turn-seq": "1" });
  const second = await call(HOSTILE, { ...run, "x-gw-turn-id": "two", "x-gw-turn-seq": "2" });
  const { root_task_id: task } = await rowOf(world.admin, { id: first.headers.get("x-request-id") });
  const told = await rowOf(world.admin, { id: second.headers.get("x-request-id") });

  const { page, context, problems } = await world.consolePage();
  await page.getByRole("navigation").getByRole("link", { name: "Audit chains" }).click();
  await page.getByRole("button", { name: "Verify chain" }).first().click();
  await page.getByText(/\d+ rows and \d+ checkpoints checked/).waitFor();
  expect(await page.getByText("altered").count()).toBe(0);
  const exported = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export for an auditor" }).first().click();
  expect(readFileSync(await (await exported).path(), "utf8")).toContain(String(first.headers.get("x-request-id")));
  expect(await accessibilityFindings(page)).toEqual([]);

  // A row that the filter does not match can still be opened by its URL.
  await page.goto(`${world.console}/audit?type=oauth&row=${told["id"]}`);
  await page.getByRole("heading", { name: "Audit chain" }).waitFor();
  await page.getByRole("button", { name: "Previous in chain" }).click();
  await page.waitForURL((url) => !url.searchParams.get("row")?.includes(String(told["id"])));
  await page.getByRole("button", { name: "Next in chain" }).click();
  await page.waitForURL((url) => url.searchParams.get("row")?.includes(String(told["id"])) === true);
  await page.getByRole("link", { name: "Rows with the same root_task_id" }).click();
  const table = page.getByRole("table", { name: "Rows of the ledger" });
  await table.getByText("404 model_not_found").waitFor();
  await page.getByText(/^2 rows/).waitFor();
  await page.getByLabel("From", { exact: true }).fill("2020-01-01T00:00");
  await page.getByLabel("Until", { exact: true }).fill("2020-01-02T00:00");
  await page.getByRole("heading", { name: "No rows" }).waitFor();
  await page.getByRole("button", { name: /^No longer only root_task_id/ }).click();
  await page.waitForURL((url) => !url.searchParams.has("where"));

  await page.goto(`${world.console}/runs/${String(task)}`);
  await page.getByRole("heading", { name: "Turn 2" }).waitFor();
  await page.getByText("2, 1 refused or failed").waitFor();
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await withinWidth(page, width);
    expect(await accessibilityFindings(page)).toEqual([]);
  }
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the admin log shows changes before and after, is filtered by URL, and is exported", async () => {
  const group = await world.admin.post("/v1/admin/resource-groups", {
    tenant_id: "default",
    name: HOSTILE.slice(0, 40),
    group_type: "team",
  });
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${group.id}`, { display_name: "<b>Payments</b>" });

  const { page, context, problems } = await world.consolePage();
  await page.getByRole("navigation").getByRole("link", { name: "Admin log" }).click();
  await page.getByLabel("Action").fill("update");
  await page.getByLabel("Action").press("Enter");
  await page.getByLabel("Kind of record").fill("resource-groups");
  await page.getByLabel("Kind of record").press("Enter");
  await page.waitForURL((url) => url.searchParams.get("resource") === "resource-groups");
  const table = page.getByRole("table", { name: "Changes" });
  await table.getByText(HOSTILE.slice(0, 40)).click();
  const changed = page.getByRole("row", { name: /^Display name/ });
  expect(await changed.getByRole("cell").allInnerTexts()).toEqual(["none", "<b>Payments</b>"]);
  expect(await accessibilityFindings(page)).toEqual([]);

  await page.getByRole("link", { name: "Record history" }).click();
  await table.getByText("create", { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get("id")).toBe(group.id);
  await page.getByRole("button", { name: "Verify it" }).click();
  await page.getByText(/\d+ rows and \d+ checkpoints checked/).waitFor();
  const exported = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export for an auditor" }).click();
  expect(readFileSync(await (await exported).path(), "utf8")).toContain(group.id);
  await page.setViewportSize({ width: 320, height: 700 });
  await withinWidth(page, 320);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the list of rows continues where it was while new calls come in", async () => {
  const calls = async (many: number) => {
    for (let from = 0; from < many; from += 25) await Promise.all(Array.from({ length: 25 }, () => call("echo")));
    const last = await call("echo");
    await rowOf(world.admin, { id: last.headers.get("x-request-id") });
  };
  await calls(225);
  const { page, context, problems } = await world.consolePage({ at: "/audit?type=llm" });
  const table = page.getByRole("table", { name: "Rows of the ledger" });
  await table.getByRole("row").nth(3).waitFor();
  await calls(100);
  await table.focus();
  await page.keyboard.press("End");
  // The first row of the second page; row 1 is the table's header.
  await table.locator('[aria-rowindex="202"]').waitFor();
  const lastOfFirst = new URL(page.url()).searchParams.get("row");
  await page.keyboard.press("j");
  await page.waitForURL((url) => url.searchParams.get("row") !== lastOfFirst);
  // IDs sort by time: this row is older than all of the first page.
  expect(String(new URL(page.url()).searchParams.get("row")) < String(lastOfFirst)).toBe(true);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("in the list of rows, earlier calls stay below a later upload of old spans", async () => {
  const before = await call("echo");
  await rowOf(world.admin, { id: before.headers.get("x-request-id") });
  const spans = Array.from({ length: 200 }, (_, at) => ({
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    spanId: (at + 1).toString(16).padStart(16, "0"),
    name: "work of last year",
    startTimeUnixNano: "1763712000000000000",
    endTimeUnixNano: "1763712001500000000",
  }));
  const upload = await fetch(`${world.gateway.runtimeUrl}/v1/ingest/otel/v1/traces`, {
    method: "POST",
    headers: { "x-api-key": world.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  });
  expect(upload.status).toBe(200);
  const uploaded = String(upload.headers.get("x-request-id"));
  await rowOf(world.admin, { id: uploaded });
  await rowsOf(world.admin, { trace_id: "4bf92f3577b34da6a3ce929d0e0e4736" }, spans.length);

  const { page, context, problems } = await world.consolePage({ at: "/audit" });
  const table = page.getByRole("table", { name: "Rows of the ledger" });
  await table.getByRole("row").nth(3).waitFor();
  await table.focus();
  await page.keyboard.press("End");
  await table.locator('[aria-rowindex="202"]').waitFor();
  for (const id of [uploaded, before.headers.get("x-request-id")]) {
    await page.keyboard.press("j");
    await page.waitForURL((url) => url.searchParams.get("row") === id);
  }
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a finding of a chain is acknowledged with a reason, which is shown with it from then on", async () => {
  const id = (await call("echo")).headers.get("x-request-id");
  const { chain_id: chain } = await rowOf(world.admin, { id });
  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  const alter = (by: number) => database.query("UPDATE audit_rows SET http_status_code = http_status_code + $1 WHERE id = $2", [by, id]);
  await alter(1);

  const { page, context, problems } = await world.consolePage({ at: "/chains" });
  const panel = page.locator("section", { has: page.getByRole("heading", { name: String(chain) }) });
  await panel.getByRole("button", { name: "Verify chain" }).click();
  await panel.getByText(/^altered at \d+/).waitFor();
  const button = panel.getByRole("button", { name: "Acknowledge" });
  expect(await button.isDisabled()).toBe(true);
  await panel.getByLabel("Reason").fill(HOSTILE);
  expect(await accessibilityFindings(page)).toEqual([]);
  await button.click();
  await panel.getByText("acknowledged by admin").waitFor();
  await panel.getByText(HOSTILE).waitFor();
  expect([await button.count(), await panel.getByText(/^altered at \d+/).count()]).toEqual([0, 1]);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
  await alter(-1);
  await database.end();
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../support/admin.ts";
import { ADMIN_PASSWORD } from "../support/gateway.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
const HOSTILE = '<img src=x onerror="document.title=1"> sk-test';
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld();
});
afterAll(() => world?.end());

const call = (model: string) =>
  fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: HOSTILE }] }),
  });

withBrowser("a security officer finds a call, reads what was decided, and proves its place in the record", async () => {
  const served = await call("echo");
  const refused = await call(HOSTILE);
  expect([served.status, refused.status]).toEqual([200, 404]);
  await rowOf(world.admin, { id: served.headers.get("x-request-id") });
  await rowOf(world.admin, { id: refused.headers.get("x-request-id") });

  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(`${world.console}/`);
  await signInOn(page, "admin", ADMIN_PASSWORD);
  await page.getByRole("heading", { name: /^The newest \d+ calls$/ }).waitFor();
  await page.getByRole("link", { name: "Look at those that were refused" }).click();
  const table = page.getByRole("table", { name: "Rows of the ledger" });
  await table.getByText("404 model_not_found").waitFor();
  expect(await table.getByText("echo", { exact: true }).count()).toBe(0);

  await page.getByLabel("Outcome").selectOption("ok");
  await page.getByLabel("Kind").selectOption("llm");
  await table.getByText("echo", { exact: true }).click();
  await page.getByRole("heading", { name: "What was decided" }).waitFor();
  expect(new URL(page.url()).searchParams.get("row")).toBe(served.headers.get("x-request-id"));
  await page.getByRole("button", { name: "Verify this row and its neighbours" }).click();
  await page.getByText(/\d+ rows and \d+ checkpoints looked at/).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);

  // The address is enough to come back.
  await page.reload();
  await page.getByRole("heading", { name: "What was decided" }).waitFor();
  expect(await page.title()).toContain("Audit explorer");
  await page.setViewportSize({ width: 320, height: 700 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

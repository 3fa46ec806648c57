import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { nextPause } from "../../web/portal/src/feed-pause.ts";
import { until } from "../support/until.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

test("a stream that ends at once is reopened with growing pauses, and one that lasted after a second", () => {
  const pauses = [0];
  for (let n = 0; n < 8; n++) pauses.push(nextPause(pauses.at(-1) ?? 0, 10_000));
  expect(pauses.slice(1)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(nextPause(60_000, 3_600_000)).toBe(1_000);
});

/** Simulates switching to another tab or back to this one. */
async function show(page: Page, state: "hidden" | "visible"): Promise<void> {
  await page.evaluate((now) => {
    Object.defineProperty(document, "visibilityState", { value: now, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
}

withBrowser("hidden tabs hold no connection, so that another tab can connect, and refresh when visible", async () => {
  const { page, context, problems } = await world.portalPage();
  const hidden: Page[] = [];
  // A browser opens at most six connections to a gateway, shared by all its tabs.
  for (let n = 0; n < 7; n++) {
    const tab = await context.newPage();
    const begun = tab.waitForResponse((response) => response.url().endsWith("/v1/portal/events"));
    await tab.goto(`${world.portal}/notifications`);
    await begun;
    await tab.getByText("Nothing new").waitFor();
    await show(tab, "hidden");
    hidden.push(tab);
  }
  await page.getByRole("textbox", { name: "Message" }).fill("hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "Another answer" }).waitFor();

  const [tab] = hidden as [Page];
  const asked: string[] = [];
  tab.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await show(tab, "visible");
  await until(
    () => asked,
    (paths) => paths.includes("/v1/portal/events") && paths.includes("/v1/portal/notifications"),
  );
  expect(problems).toEqual([]);
  await context.close();
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { RECORD_KINDS } from "../../web/console/src/records/record-kinds.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, goWithin, type WatchedPage } from "./chromium.ts";
import { keyboardFindings } from "./keyboard-walk.ts";

/** Every page of both apps using only the keyboard: every control can be reached, shows its focus, and can be left again. */
const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

/** What surrounds the main content is the same on every page of an app: one walk of it is enough. */
async function walk(watched: WatchedPage, address: string, part: "body" | "main" = "main"): Promise<string[]> {
  await goWithin(watched.page, address);
  await shown(watched);
  const found = await keyboardFindings(watched.page, part);
  return found.map((finding) => `${new URL(address).pathname}: ${finding}`);
}

/** The first record in the list that the page shows. */
async function recordOn(page: Page): Promise<string | null> {
  const link = page.locator(`main a[href^="${new URL(page.url()).pathname}/"]:not([href$="/new"])`).first();
  return (await link.count()) === 0 ? null : link.evaluate((element) => (element as HTMLAnchorElement).href);
}

/** Waits until the page is there, has loaded what it requested, and no longer changes. */
async function shown({ page, settled }: WatchedPage): Promise<void> {
  await page.locator("h1").first().waitFor();
  await settled();
}

const linksOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => [...new Set([...document.querySelectorAll<HTMLAnchorElement>("nav#navigation a")].map(({ href }) => href))]);

/** Many pages are split over several tests: one alone would come close to the timeout. */
const THIRDS = [1, 2, 3];
const third = <Item>(items: readonly Item[], part: number) => items.filter((_, at) => at % THIRDS.length === part - 1);

withBrowser.each(THIRDS)(
  "every control of the console's pages, and of a record of each kind, is reachable by keyboard, third %i",
  async (part) => {
    const watched = await world.consolePage();
    const links = third(await linksOf(watched.page), part);
    const findings: string[] = [];
    let records = 0;
    for (const [at, address] of links.entries()) {
      findings.push(...(await walk(watched, address, at === 0 && part === 1 ? "body" : "main")));
      const record = address.includes("/manage/") ? await recordOn(watched.page) : null;
      if (record === null) continue;
      records++;
      findings.push(...(await walk(watched, record)));
    }
    expect(findings).toEqual([]);
    expect(links.length).toBeGreaterThan(10);
    // Few kinds have a record in a new gateway.
    expect(records).toBeGreaterThan(0);
    await watched.context.close();
  },
);

withBrowser.each(THIRDS)("every control of the console's forms is reachable by keyboard, third %i", async (part) => {
  const watched = await world.consolePage();
  const findings: string[] = [];
  for (const { slug } of third(RECORD_KINDS, part)) findings.push(...(await walk(watched, `${world.console}/manage/${slug}/new`)));
  expect(findings).toEqual([]);
  await watched.context.close();
});

withBrowser("every control of the portal's pages is reachable by keyboard", async () => {
  const watched = await world.portalPage();
  const links = await linksOf(watched.page);
  expect(links.length).toBeGreaterThan(5);
  const findings: string[] = [];
  for (const [at, address] of [...links, `${world.portal}/profile`].entries())
    findings.push(...(await walk(watched, address, at === 0 ? "body" : "main")));
  expect(findings).toEqual([]);
  await watched.context.close();
});

withBrowser("a dialog traps the focus and returns it when closed", async () => {
  const watched = await world.portalPage({ at: null });
  const { page, context } = watched;
  for (const open of ["Control+k", "?"]) {
    await page.goto(`${world.portal}/profile`);
    await shown(watched);
    const from = page.locator("nav#navigation a").first();
    await from.focus();
    await page.keyboard.press(open);
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    const inside = await dialog.elementHandle();
    // The elements at the edges of the dialog send focus back inside, a moment later.
    const isInside = (element: Element | null) => element?.contains(document.activeElement) === true;
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press(i % 5 === 4 ? "Shift+Tab" : "Tab");
      await page.waitForFunction(isInside, inside);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await from.evaluate((element) => element === document.activeElement)).toBe(true);
  }
  await context.close();
});

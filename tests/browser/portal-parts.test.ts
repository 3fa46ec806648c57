import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage } from "./chromium.ts";

/** Parts of the portal that fail or cannot be loaded must not affect the rest. */

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

/** The model `echo` repeats the prompt. */
async function answered(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "Another answer" }).waitFor();
}

/** As after an upgrade of the gateway, which only serves the files of its own release. */
const withoutFiles = (page: Page, names: RegExp) => page.route(names, (route) => route.fulfill({ status: 404, body: "" }));

withBrowser("an answer nested too deeply to render is shown as written, and the conversation stays usable", async () => {
  const { page, context } = await world.portalPage({ at: null });
  for (const text of [`${"> ".repeat(3_000)}deep`, `\`\`\`js\n${"`${".repeat(3_000)}deep\n\`\`\``]) {
    await page.goto(`${world.portal}/chat`);
    await answered(page, text);
    await page.reload();
    await page.getByRole("article", { name: "AI-generated" }).getByText("deep").waitFor();
    expect(await page.getByRole("textbox", { name: "Message" }).isEnabled()).toBe(true);
  }
  await context.close();
});

withBrowser("code in an answer is shown as text if the page's highlighting module is missing", async () => {
  const { page, context } = await world.portalPage();
  await withoutFiles(page, /\/assets\/(?:highlighted-code|maths)-/);
  await answered(page, "```js\nconst kept = 1;\n```\n\n$$\nx^2\n$$");
  const answer = page.getByRole("article", { name: "AI-generated" });
  await answer.getByText("const kept = 1;").waitFor();
  await answer.getByText("x^2").waitFor();
  await context.close();
});

withBrowser("a page whose module is missing shows an error, and loads after a retry", async () => {
  const { page, context } = await world.portalPage();
  await withoutFiles(page, /\/assets\/files-/);
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await page.getByRole("alert").getByText("This could not be read").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.unroute(/\/assets\/files-/);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Files", level: 1 }).waitFor();
  await context.close();
});

withBrowser("a language whose module is missing leaves the page in English", async () => {
  const { page, context } = await watchedPage(world.browser, { locale: "de-DE" });
  await withoutFiles(page, /\/assets\/de-/);
  await page.goto(`${world.portal}/chat`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await context.close();
});

withBrowser("the portal works without browser storage as long as the page is open", async () => {
  const { page, context, problems } = await watchedPage(world.browser);
  await page.addInitScript(() => {
    for (const name of ["localStorage", "sessionStorage", "indexedDB"])
      Object.defineProperty(globalThis, name, {
        get() {
          throw new DOMException("Access is denied.", "SecurityError");
        },
      });
  });
  await page.goto(`${world.portal}/chat`);
  await signInOn(page, world.person.username, world.person.password);
  await answered(page, "Something for the moment");
  await page.getByText("This conversation could not be saved in this browser.").waitFor();
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: "Dark" }).click();
  await page.waitForFunction(() => document.documentElement.dataset["theme"] === "dark");
  expect(problems).toEqual([]);
  await context.close();
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityFindings, colourFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, goWithin, watchedPage, withinWidth } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

withBrowser("a new person's first day: an account, a question, a rating, a second tab, and signing out everywhere", async () => {
  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(world.gateway.runtimeUrl);
  await page.getByRole("button", { name: "Create an account" }).click();
  await page.getByLabel("User name").fill("new-person");
  await page.getByLabel("Password").fill("short");
  await page.getByRole("button", { name: "Create an account" }).click();
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Create an account");
  await page.getByLabel("Password").fill("a long enough password");
  await page.getByRole("button", { name: "Create an account" }).click();
  await page.getByText("No models yet").waitFor();

  // An administrator admits them: the page shows it when opened again.
  const people = (await world.admin.get("/v1/admin/end-users?search=new-person")) as any;
  const groups = (await world.admin.get("/v1/admin/resource-groups")) as any;
  await world.admin.request("PATCH", `/v1/admin/end-users/${people.users[0].id}/primary-group`, { group_id: groups.resource_groups[0].id });
  await page.reload();
  await page.getByRole("textbox", { name: "Message" }).fill("What is the capital of Sweden?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const answer = page.getByRole("article", { name: "AI-generated" });
  await answer.getByText("What is the capital of Sweden?").waitFor();
  await answer.getByRole("button", { name: "Helpful", exact: true }).click();
  await page.locator('button[aria-pressed="true"]').waitFor();
  expect(await answer.getByText("AI-generated").isVisible()).toBe(true);

  // The conversation in the URL is stored in this browser.
  await page.reload();
  await answer.getByText("What is the capital of Sweden?").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as Markdown" }).click();
  const exported = await new Response((await (await download).createReadStream()) as unknown as ReadableStream).text();
  expect(exported).toContain("> This conversation contains AI-generated text");
  expect(exported).toContain("(AI-generated)");

  const second = await context.newPage();
  await second.goto(`${world.portal}/profile`);
  await second.getByRole("heading", { name: "Profile" }).waitFor();
  await second.getByRole("button", { name: /^Your account/ }).click();
  await second.getByRole("menuitem", { name: "Sign out everywhere" }).click();
  for (const tab of [second, page]) await tab.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the portal can be used by keyboard alone", async () => {
  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(`${world.portal}/`);
  await page.getByLabel("User name").waitFor();
  await page.keyboard.type(world.person.username);
  await page.keyboard.press("Tab");
  await page.keyboard.type(world.person.password);
  await page.keyboard.press("Enter");
  const message = page.getByRole("textbox", { name: "Message" });
  await message.waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("profi");
  await page.keyboard.press("Enter");
  const title = page.getByRole("heading", { name: "Profile" });
  await title.waitFor();
  expect(await title.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.goBack();
  await message.focus();
  await page.keyboard.type("one");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("two");
  await page.locator("form button[type=submit]:enabled").waitFor();
  // The key press that accepts an input method's proposal, as Safari reports it.
  await message.evaluate((box) => box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true })));
  expect(await message.inputValue()).toBe("one\ntwo");
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: "AI-generated" }).getByText("two").waitFor();
  await page.getByRole("button", { name: "Delete conversation" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Delete conversation");
  expect(problems).toEqual([]);
  await context.close();
});

const PAGES = ["chat", "approvals", "tools", "knowledge", "notifications", "alerts", "profile"];

const THEMES = ["light", "dark"] as const;

/** Every rule in the theme that the page before was left in, then those about colours in the other theme. */
async function findingsInBoth(page: Page, from: (typeof THEMES)[number]): Promise<string[]> {
  const found = await accessibilityFindings(page);
  await page.emulateMedia({ colorScheme: from === "light" ? "dark" : "light" });
  return [...found, ...(await colourFindings(page))];
}

for (const width of [1440, 320])
  withBrowser(`portal pages have no accessibility findings in either theme, ${width} pixels wide`, async () => {
    const { page, context, problems, settled } = await watchedPage(world.browser, { theme: THEMES[0], width });
    await page.goto(`${world.portal}/`);
    await page.getByLabel("User name").waitFor();
    expect(await findingsInBoth(page, "light")).toEqual([]);
    await page.getByLabel("User name").fill(world.person.username);
    await page.getByLabel("Password").fill(world.person.password);
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    for (const [at, path] of PAGES.entries()) {
      await goWithin(page, `${world.portal}/${path}`);
      await settled();
      await page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" });
      await page.locator('[role="status"].animate-pulse').first().waitFor({ state: "detached" });
      expect([path, await findingsInBoth(page, at % 2 === 0 ? "dark" : "light")]).toEqual([path, []]);
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)]).toEqual([path, true]);
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    expect(await findingsInBoth(page, PAGES.length % 2 === 0 ? "dark" : "light")).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

withBrowser("files are uploaded, downloaded unchanged and deleted, whatever their names", async () => {
  const { page, context, problems } = await world.portalPage({ at: "/files", width: 320, height: 700, theme: "dark" });
  const name = '<img src=x onerror="document.title=1">.txt';
  await page.getByText("No files yet").waitFor();
  await page.getByLabel("File to upload").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from("plain words") });
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await page.getByText(name, { exact: true }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await withinWidth(page, 320);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: `Download ${name}` }).click();
  expect(await new Response((await (await download).createReadStream()) as unknown as ReadableStream).text()).toBe("plain words");
  await page.getByRole("button", { name: `Delete ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No files yet").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a batch job is created from a file, watched and read", async () => {
  const { page, context, problems } = await world.portalPage({ at: "/jobs", width: 320, height: 700, theme: "light" });
  await page.getByText("No jobs yet").waitFor();
  const line = (id: string, content: string) =>
    JSON.stringify({
      custom_id: id,
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "echo", messages: [{ role: "user", content }] },
    });
  const buffer = Buffer.from(`${line("a", "hello")}\n${line("b", '<img src=x onerror="document.title=1">')}\n`);
  await page.getByLabel("Request file (JSON Lines)").setInputFiles({ name: "in.jsonl", mimeType: "text/plain", buffer });
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByText("2 of 2 requests done").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Results" }).click();
  const results = await new Response((await (await download).createReadStream()) as unknown as ReadableStream).text();
  expect(results.split("\n").filter(Boolean)).toHaveLength(2);
  expect(await accessibilityFindings(page)).toEqual([]);
  await withinWidth(page, 320);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a job's state and a table's labels are in the reader's language", async () => {
  const { page, context, problems } = await world.portalPage({ at: "/jobs", locale: "de-AT" });
  const body = { model: "echo", messages: [{ role: "user", content: "hello" }] };
  const line = JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/chat/completions", body });
  await page.locator("input[type=file]").setInputFiles({ name: "in.jsonl", mimeType: "text/plain", buffer: Buffer.from(line) });
  await page.getByRole("button", { name: "Auftrag starten" }).click();
  await page.getByText("Abgeschlossen", { exact: true }).first().waitFor();
  expect(await page.getByText(/^(?:completed|in progress)$/i).count()).toBe(0);
  await page.goto(`${world.portal}/chat`);
  await page.locator("textarea").fill("|a|b|\n|---|---|\n|1|2|");
  await page.locator("form button[type=submit]").click();
  await page.getByRole("region", { name: "Tabelle", exact: true }).first().waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

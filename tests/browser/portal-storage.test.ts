import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

/** Conversations that the browser stores, or fails to store. */

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

/** The model `echo` repeats the prompt. */
async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "Another answer" }).waitFor();
}

const listed = (page: Page, title: string) =>
  page.getByRole("complementary", { name: "Conversations" }).getByRole("link", { name: title, exact: true });

withBrowser("a conversation that cannot be stored says so until it is stored again", async () => {
  const { page, context, problems } = await world.portalPage();
  await page.evaluate(() => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function full(this: IDBObjectStore, ...given) {
      // As with a full disk: the request succeeds, its transaction does not.
      const request = put.apply(this, given);
      if (sessionStorage.getItem("room") === null) request.addEventListener("success", () => this.transaction.abort());
      return request;
    };
  });
  await say(page, "Something long");
  const told = page.getByText("This conversation could not be saved in this browser.");
  await told.waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.evaluate(() => sessionStorage.setItem("room", "yes"));
  await page.getByRole("button", { name: "Helpful", exact: true }).click();
  await told.waitFor({ state: "detached" });
  await listed(page, "Something long").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a storage that cannot be opened is reported in the list's place, and tried again", async () => {
  const { page, context, problems } = await world.portalPage({ at: null });
  await page.addInitScript(() => {
    const { open } = IDBFactory.prototype;
    IDBFactory.prototype.open = function closed(this: IDBFactory, ...given) {
      if (sessionStorage.getItem("closed") !== null) throw new DOMException("The storage is closed.", "UnknownError");
      return open.apply(this, given);
    };
    if (sessionStorage.getItem("closed") === null) sessionStorage.setItem("closed", "yes");
  });
  await page.goto(`${world.portal}/chat`);
  const list = page.getByRole("complementary", { name: "Conversations" });
  await list.getByText("This could not be read").waitFor();
  expect(await list.getByText("Your conversations will be listed here.").count()).toBe(0);
  await page.evaluate(() => sessionStorage.removeItem("closed"));
  await list.getByRole("button", { name: "Try again" }).click();
  await list.getByText("Your conversations will be listed here.").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a conversation deleted in one tab is deleted in the others", async () => {
  const { page, context, problems } = await world.portalPage();
  await say(page, "Something private");
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByRole("button", { name: "Another answer" }).waitFor();
  await page.getByRole("button", { name: "Delete conversation" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await second.getByText("What can I help with?").waitFor();
  await until(
    () => listed(second, "Something private").count(),
    (count) => count === 0,
  );
  // The next thing that is stored here is another conversation.
  await say(second, "Something else");
  for (const tab of [page, second]) {
    await tab.reload();
    await listed(tab, "Something else").waitFor();
    expect(await listed(tab, "Something private").count()).toBe(0);
  }
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a question asked in one tab while another tab is answering waits and is not lost", async () => {
  const { page, context, problems } = await world.portalPage();
  const held = Promise.withResolvers<void>();
  await page.route("**/chat/completions", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.getByRole("textbox", { name: "Message" }).fill("Asked first");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await listed(page, "Asked first").waitFor();
  const second = await context.newPage();
  await second.goto(page.url());
  const told = second.getByText("Another tab is answering in this conversation.");
  await told.waitFor();
  const message = second.getByRole("textbox", { name: "Message" });
  await message.fill("Asked meanwhile");
  await message.press("Enter");
  expect(await second.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
  expect(await second.getByText("This answer was stopped.").count()).toBe(0);
  held.resolve();
  await page.getByRole("button", { name: "Another answer" }).waitFor();
  await told.waitFor({ state: "detached" });
  expect(await message.inputValue()).toBe("Asked meanwhile");
  await second.getByRole("button", { name: "Send", exact: true }).click();
  for (const tab of [page, second]) {
    await tab.getByRole("button", { name: "Another answer" }).nth(1).waitFor();
    expect(await tab.getByRole("article", { name: "You" }).allInnerTexts()).toEqual(["Asked first", "Asked meanwhile"]);
  }
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an edit made in one tab while another tab is answering is kept, and sends nothing meanwhile", async () => {
  const { page, context, problems } = await world.portalPage();
  await say(page, "To begin with");
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByRole("button", { name: "Edit", exact: true }).click();
  const edited = second.getByRole("article", { name: "You" }).getByRole("textbox", { name: "Message" });
  await edited.fill("To begin otherwise");
  const held = Promise.withResolvers<void>();
  await page.route("**/chat/completions", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.getByRole("textbox", { name: "Message" }).fill("Asked meanwhile");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const told = second.getByText("Another tab is answering in this conversation.");
  await told.waitFor();
  expect(await second.getByRole("article", { name: "You" }).first().getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  await second.getByRole("button", { name: "Rename conversation" }).click();
  await second.getByRole("textbox", { name: "Name" }).fill("A name of its own");
  await second.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await listed(page, "A name of its own").waitFor();
  held.resolve();
  await told.waitFor({ state: "detached" });
  for (const tab of [page, second]) {
    await tab.getByRole("button", { name: "Another answer" }).nth(1).waitFor();
    await listed(tab, "A name of its own").waitFor();
  }
  await second.reload();
  await listed(second, "A name of its own").waitFor();
  await second.getByRole("button", { name: "Another answer" }).nth(1).waitFor();
  expect(await second.getByRole("article", { name: "You" }).allInnerTexts()).toEqual(["To begin with", "Asked meanwhile"]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("thousands of conversations are listed and searched without rendering or re-reading all", async () => {
  const { page, context, problems } = await world.portalPage();
  await say(page, "The first one");
  await page.evaluate(async () => {
    const ended = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve) => request.addEventListener("success", () => resolve(request.result)));
    const database = await ended(indexedDB.open("gatehouse.conversations", 1));
    const store = database.transaction("conversations", "readwrite").objectStore("conversations");
    const model = await ended(store.get(location.pathname.split("/").at(-1) ?? ""));
    for (let at = 0; at < 2_000; at++) {
      const changedAt = new Date(Date.UTC(2020, 0, 1) + at * 60_000).toISOString();
      const handle = String(at).padStart(26, "0");
      const request = store.put({ ...model, handle, changedAt, title: `Older ${at}` });
      if (at === 1_999) await ended(request);
    }
  });
  await page.addInitScript(() => {
    const { getAll } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.getAll = function counted(this: IDBObjectStore, ...given) {
      sessionStorage.setItem("read", String(Number(sessionStorage.getItem("read") ?? 0) + 1));
      return getAll.apply(this, given);
    };
  });
  await page.goto(`${world.portal}/chat`);
  await listed(page, "Older 1999").waitFor();
  const list = page.getByRole("complementary", { name: "Conversations" });
  const links = list.getByRole("list").getByRole("link");
  expect([await links.first().textContent(), await links.count()]).toEqual(["The first one", 100]);
  await list.getByRole("button", { name: "Show more" }).click();
  await listed(page, "Older 1801").waitFor();
  expect(await links.count()).toBe(200);
  await list.getByRole("searchbox", { name: "Search conversations" }).fill("older 423");
  await listed(page, "Older 423").waitFor();
  await list.getByRole("searchbox", { name: "Search conversations" }).fill("");
  const before = await page.evaluate(() => sessionStorage.getItem("read"));
  await say(page, "The newest one");
  await until(
    () => links.first().textContent(),
    (text) => text === "The newest one",
  );
  expect(await page.evaluate(() => sessionStorage.getItem("read"))).toBe(before);
  expect(problems).toEqual([]);
  await context.close();
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { DEFAULT_TEXTS } from "../../server/directory/notices/default-texts.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

const NOTICE = "/v1/portal/evidence/notice";
const CHAT = "/v1/proxy/llm/chat/completions";

interface Sent {
  readonly kind: "notice" | "chat";
  readonly handle: string;
  readonly method?: string;
  readonly digest?: string;
}

/** The requests that the page sent, in order. */
function sentBy(page: Page): Sent[] {
  const sent: Sent[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === NOTICE) {
      const { conversation_handle: handle, method, text_sha256: digest } = request.postDataJSON();
      sent.push({ kind: "notice", handle, method, digest });
    } else if (pathname === CHAT) sent.push({ kind: "chat", handle: request.headers()["x-gw-conversation-handle"] ?? "" });
  });
  return sent;
}

/** Opens a new conversation; the one that was open before may still be sending. */
async function openConversation(page: Page): Promise<string> {
  const before = page.url();
  await page.goto(`${world.portal}/chat`);
  await page.waitForURL((url) => url.href !== before && /\/chat\/[0-9A-Z]{26}$/.test(url.pathname));
  return page.url().slice(-26);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(20);
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

async function shownNotices(page: Page): Promise<{ texts: string[]; nodes: number[] }> {
  return page
    .locator("[data-notice]")
    .evaluateAll((elements) => ({
      texts: elements.map((element) => element.textContent ?? ""),
      nodes: elements.map((element) => element.childNodes.length),
    }));
}

/** Pseudo-random choices, the same for the same seed. */
function choices(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * most);
  };
}

withBrowser("a conversation's notice is sent before its first question, once per method, whatever is clicked or reloaded", async () => {
  const { page, context, problems } = await watchedPage(world.browser);
  // Recorded from the first conversation on: on a slow page, going back may lead to an earlier one.
  const sent = sentBy(page);
  await page.goto(`${world.portal}/chat`);
  await signInOn(page, world.person.username, world.person.password);
  const pick = choices(7);
  const message = page.getByRole("textbox", { name: "Message" });
  const seen = new Set<string>();
  await openConversation(page);
  for (let step = 0; step < 24; step++) {
    const action = pick(4);
    if (action === 0) await page.goto(`${world.portal}/chat`);
    else if (action === 1) await page.reload();
    else if (action === 2) {
      await page.getByRole("link", { name: "Profile" }).click();
      await page.goBack();
    } else {
      await message.fill(`step ${step}`);
      // Clicks as early as a person could; the button may not be ready yet.
      await page.getByRole("button", { name: "Send", exact: true }).click();
      if (pick(2) === 0) await page.getByRole("article", { name: "AI-generated" }).last().waitFor();
    }
    const notices = await shownNotices(page);
    for (const text of notices.texts) seen.add(text);
    expect(notices.nodes.every((count) => count === 1)).toBe(true);
  }
  const handles = new Set(sent.filter(({ kind }) => kind === "chat").map(({ handle }) => handle));
  expect(handles.size).toBeGreaterThan(0);
  for (const handle of handles) {
    const own = sent.filter((one) => one.handle === handle);
    const first = own.findIndex(({ kind }) => kind === "chat");
    expect(own.slice(0, first).map(({ method }) => method)).toEqual(expect.arrayContaining(["banner", "inline"]));
    expect(own.filter(({ kind }) => kind === "notice")).toHaveLength(2);
  }
  expect([...seen]).toEqual([DEFAULT_TEXTS["en"] ?? ""]);
  for (const { digest } of sent.filter(({ kind }) => kind === "notice")) expect(digest).toBe(sha256(DEFAULT_TEXTS["en"] ?? ""));
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a configured notice is shown as plain text in one text node, and its digest is sealed", async () => {
  const text = "Sie sprechen mit einer **KI** <b>!</b>";
  await world.admin.request("PUT", "/v1/admin/notice-config", {
    tenant_id: "default",
    surface: "inline",
    texts: { de: text, en: "An AI." },
  });
  const { page, context, problems } = await world.portalPage({ at: null, locale: "de-AT" });
  const sent = sentBy(page);
  const own = await openConversation(page);
  await page.locator("[data-notice]").waitFor();
  expect(await shownNotices(page)).toEqual({ texts: [text], nodes: [1] });
  await page.locator("textarea").fill("Hallo");
  await page.locator("form button[type=submit]").click();
  await page.locator("article[aria-busy=false]").waitFor();
  expect(sent.filter(({ handle }) => handle === own).map(({ kind, method, digest }) => [kind, method, digest])).toEqual([
    ["notice", "inline", sha256(text)],
    ["chat", undefined, undefined],
  ]);
  await world.admin.request("DELETE", "/v1/admin/notice-config?tenant_id=default");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("without a primary group the notice is that of the group the person acts for, and the record names it", async () => {
  const { admin } = world;
  const text = "You talk with the claims bot.";
  const { id: bot } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "claims-bot" });
  const { user } = await admin.post("/v1/admin/end-users", { tenant_id: "default", username: "unchosen", password: "long enough" });
  const people = { tenant_id: "default", name: "claims", initial_member_ids: [user.id] };
  const { id: claims } = await admin.post("/v1/admin/end-user-groups", people);
  await admin.post(`/v1/admin/end-user-groups/${claims}/resource-groups`, { resource_group_ids: [bot] });
  await admin.request("PUT", "/v1/admin/notice-config", {
    tenant_id: "default",
    ai_system_id: bot,
    surface: "inline",
    texts: { en: text },
  });
  const { page, context, problems } = await watchedPage(world.browser);
  const posted = page.waitForRequest((request) => new URL(request.url()).pathname === NOTICE);
  await page.goto(`${world.portal}/chat`);
  await signInOn(page, "unchosen", "long enough");
  await page.locator("[data-notice]").waitFor();
  expect(await shownNotices(page)).toEqual({ texts: [text], nodes: [1] });
  expect((await posted).postDataJSON()).toMatchObject({ ai_system_id: bot, text_sha256: sha256(text) });
  expect(problems).toEqual([]);
  await context.close();
});

for (const [name, answer] of [
  ["fails", { status: 500, body: "{}" }],
  ["is not JSON", { status: 200, contentType: "application/json", body: "<html>" }],
  ["has an unexpected shape", { status: 200, contentType: "application/json", body: '{"enabled":"no","surface":"none"}' }],
  ["is off without an exemption", { status: 200, contentType: "application/json", body: '{"enabled":false,"surface":"banner"}' }],
] as const)
  withBrowser(`a notice configuration that ${name} falls back to both surfaces and the built-in text`, async () => {
    const { page, context } = await world.portalPage({ at: null });
    await page.route("**/v1/portal/evidence/notice-config*", (route) => route.fulfill(answer));
    await page.goto(`${world.portal}/chat`);
    await page.locator("[data-notice=inline]").waitFor();
    expect((await shownNotices(page)).texts).toEqual([DEFAULT_TEXTS["en"] ?? "", DEFAULT_TEXTS["en"] ?? ""]);
    await context.close();
  });

withBrowser("a declared exemption shows no notice and sends no record", async () => {
  const { page, context } = await world.portalPage({ at: null });
  const sent = sentBy(page);
  await page.route("**/v1/portal/evidence/notice-config*", (route) =>
    route.fulfill({ json: { enabled: false, surface: "both", text: {}, exemption: { asserted: true, basis: "other", rationale: "x" } } }),
  );
  const own = await openConversation(page);
  await page.getByRole("textbox", { name: "Message" }).fill("hello");
  await page.locator("form button[type=submit]").click();
  await page.locator("article[aria-busy=false]").waitFor();
  expect(await page.locator("[data-notice]").count()).toBe(0);
  expect(sent.filter(({ handle }) => handle === own).map(({ kind }) => kind)).toEqual(["chat"]);
  await context.close();
});

withBrowser("a notice that failed to send is sent again, and the next question waits for it", async () => {
  const { page, context } = await world.portalPage({ at: null });
  const sent = sentBy(page);
  const lost = new Set<string>();
  await page.route(`**${NOTICE}`, (route) => {
    const { conversation_handle: handle, method } = route.request().postDataJSON();
    const one = `${handle} ${method}`;
    if (lost.has(one)) return route.continue();
    lost.add(one);
    return route.abort();
  });
  const own = await openConversation(page);
  const notices = () => sent.filter(({ handle, kind }) => handle === own && kind === "notice");
  await until(() => notices().length === 4);
  await page.getByRole("textbox", { name: "Message" }).fill("hello");
  await page.locator("form button[type=submit]").click();
  await page.locator("article[aria-busy=false]").waitFor();
  expect(
    notices()
      .map(({ method }) => method)
      .sort(),
  ).toEqual(["banner", "banner", "inline", "inline"]);
  expect(sent.filter(({ handle }) => handle === own).at(-1)).toMatchObject({ kind: "chat" });
  await context.close();
});

withBrowser("a page reloaded before its conversation is stored does not send the notice again", async () => {
  const { page, context, problems } = await world.portalPage({ at: null });
  const sent = sentBy(page);
  // A slow storage: nothing that is written is stored yet.
  await page.addInitScript(() => {
    IDBObjectStore.prototype.put = () => new EventTarget() as IDBRequest<IDBValidKey>;
  });
  const own = await openConversation(page);
  await until(() => sent.filter(({ handle, kind }) => handle === own && kind === "notice").length === 2);
  await page.reload();
  await page.getByRole("textbox", { name: "Message" }).fill("hello");
  await page.locator("form button[type=submit]").click();
  await page.locator("article[aria-busy=false]").waitFor();
  expect(sent.filter(({ handle }) => handle === own).map(({ kind }) => kind)).toEqual(["notice", "notice", "chat"]);
  expect(problems).toEqual([]);
  await context.close();
});

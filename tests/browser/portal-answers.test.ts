import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);

/** A model that answers what a test tells it to, when it tells it to. */
function toldModel() {
  const asked: { messages: { role: string; content: unknown }[] }[] = [];
  let answer: ReadableStreamDefaultController<Uint8Array> | null = null;
  const chunk = (delta: object, finish_reason: string | null = null, to = answer) => {
    const frame = { id: "told", object: "chat.completion.chunk", created: 1, model: "told", choices: [{ index: 0, delta, finish_reason }] };
    to?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`));
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      asked.push((await request.json()) as (typeof asked)[number]);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          answer = controller;
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    asked,
    say: (content: string) => chunk({ content }),
    end: (to = answer) => {
      chunk({}, "stop", to);
      to?.enqueue(new TextEncoder().encode("data: [DONE]\n\n"));
      to?.close();
    },
    /** Returns a function that sends the rest of the current answer and ends it, even if other answers begin meanwhile. */
    held() {
      const to = answer;
      return (content: string) => {
        chunk({ content }, null, to);
        this.end(to);
      };
    },
    stop: () => server.stop(true),
  };
}

let world: BrowserWorld;
let model: ReturnType<typeof toldModel>;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  model = toldModel();
  world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  const { resource_groups: groups } = (await world.admin.get("/v1/admin/resource-groups?search=default")) as any;
  await world.admin.post("/v1/admin/providers", {
    ...{ tenant_id: "default", provider_key: "telling", api_format: "openai", api_key: "sk-upstream-secret-0001" },
    base_url: model.baseUrl,
  });
  await world.admin.post("/v1/admin/llms", {
    ...{ tenant_id: "default", name: "a-told-one", model_name: "told", provider: "telling", supports_vision: true },
    group_ids: [groups[0].id],
  });
});
afterAll(async () => {
  await world?.end();
  await model?.stop();
});

const paragraphs = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `Paragraph ${from + at} of what there is to say.\n\n`).join("");

async function ask(page: Page, text: string): Promise<void> {
  const before = model.asked.length;
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await until(
    async () => model.asked.length,
    (count) => count > before,
  );
}

async function answered(page: Page, text: string): Promise<void> {
  model.say(text);
  model.end();
  await page.getByRole("article", { name: "AI-generated" }).last().getByRole("button", { name: "Another answer" }).waitFor();
}

const placeOf = (page: Page) =>
  page
    .getByRole("region", { name: "Chat" })
    .evaluate(({ scrollTop, scrollHeight, clientHeight }) => ({ top: scrollTop, left: scrollHeight - clientHeight - scrollTop }));

withBrowser("a streaming answer stays in view, unless the person scrolls up", async () => {
  const { page, context, problems } = await world.portalPage();
  await ask(page, "Go on for a while.");
  model.say(paragraphs(0, 60));
  await page.getByText("Paragraph 59 of").waitFor();
  await until(
    () => placeOf(page),
    ({ top, left }) => top > 0 && left <= 8,
  );
  await page.getByRole("region", { name: "Chat" }).hover();
  await page.mouse.wheel(0, -100_000);
  await until(
    () => placeOf(page),
    ({ top }) => top === 0,
  );
  model.say(paragraphs(60, 90));
  await page.getByText("Paragraph 89 of").waitFor();
  expect((await placeOf(page)).top).toBe(0);

  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("This answer was stopped.").waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Message");

  // The next question scrolls to the end again, and an answer that nobody waits for is not announced.
  await ask(page, "And then?");
  await until(
    () => placeOf(page),
    ({ left }) => left <= 8,
  );
  await answered(page, "Nothing.");
  await page.getByText("The response is complete.").waitFor({ state: "attached" });
  await page.reload();
  await page.getByText("Nothing.").waitFor();
  expect(await page.getByText("The response is complete.").count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a partial answer survives a reload, and is marked as stopped", async () => {
  const { page, context } = await world.portalPage();
  await ask(page, "Say it slowly.");
  model.say("The first part.");
  await page.getByText("The first part.").waitFor();
  await page.reload();
  await page.getByText("This answer was stopped.").waitFor();
  await ask(page, "Say it again.");
  model.say("One. ");
  await page.getByText("One.").waitFor();
  await page.clock.install();
  await page.clock.fastForward("00:03");
  model.say("Two. ");
  await page.getByText("One. Two.").waitFor();
  await page.reload();
  await page.getByText("One. Two.").waitFor();
  expect(await page.getByText("This answer was stopped.").count()).toBe(2);
  await context.close();
});

withBrowser("a connection broken in mid-answer is reported next to the partial answer", async () => {
  const { page, context } = await world.portalPage();
  // What the browser sees when the gateway dies: the beginning of an answer, then a network error.
  await page.evaluate(() => {
    const real = globalThis.fetch;
    const tearing = async (...given: Parameters<typeof fetch>) => {
      const response = await real(...given);
      if (!response.url.endsWith("/chat/completions")) return response;
      const torn = new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          controller.enqueue(bytes);
          if (new TextDecoder().decode(bytes).includes("Half")) setTimeout(() => controller.error(new TypeError("network error")), 50);
        },
      });
      return new Response(response.body?.pipeThrough(torn), response);
    };
    Object.assign(globalThis, { fetch: tearing });
  });
  await ask(page, "Break off.");
  model.say(`${paragraphs(0, 60)}Half of it`);
  const told = page.getByRole("alert").filter({ hasText: "The answer was cut off" });
  await told.waitFor();
  const text = await told.innerText();
  expect(text).toContain("The gateway did not answer. Check your connection, then try again.");
  expect(text).not.toContain("network error");
  expect(text).toMatch(/Request [0-9A-Z]{26}/);
  expect(await page.getByText("Half of it").count()).toBe(1);
  // The error is visible without scrolling.
  await until(
    () => placeOf(page),
    ({ top, left }) => top > 0 && left <= 8,
  );
  await context.close();
});

withBrowser("an answer ended by the length limit or a content filter says so", async () => {
  const { page, context, problems } = await world.portalPage();
  let ended = "length";
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  await page.route("**/v1/proxy/llm/chat/completions", (route) =>
    route.fulfill({
      contentType: "text/event-stream",
      body: `${chunk({ content: "The half of" }, null)}${chunk({}, ended)}data: [DONE]\n\n`,
    }),
  );
  await page.getByRole("textbox", { name: "Message" }).fill("Tell me all");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("This answer reached the model’s length limit.").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.reload();
  await page.getByText("This answer reached the model’s length limit.").waitFor();
  ended = "content_filter";
  await page.getByRole("button", { name: "Another answer" }).click();
  await page.getByText("The model’s provider ended this answer under its own content rules.").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("regenerating an earlier answer replaces the messages below it, which can be undone", async () => {
  const { page, context, problems } = await world.portalPage();
  await ask(page, "First question");
  await answered(page, "First answer");
  await ask(page, "Second question");
  await answered(page, "Second answer");
  await page.getByRole("button", { name: "Another answer" }).first().click();
  await page.getByText("The messages below were replaced.").waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Chat");
  await page.getByText("Second question").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Second answer").waitFor();
  await page.reload();
  for (const text of ["First answer", "Second question", "Second answer"]) await page.getByText(text, { exact: true }).waitFor();
  expect(await page.getByText("This answer was stopped").count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an image alone can be sent, and one that is too large is refused", async () => {
  const { page, context, problems } = await world.portalPage();
  const pixel = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  const files = page.locator("input[type=file]");
  await files.setInputFiles([
    { name: "huge.png", mimeType: "image/png", buffer: Buffer.alloc(4_000_001) },
    { name: "pixel.png", mimeType: "image/png", buffer: pixel },
  ]);
  await page.getByRole("alert").getByText("huge.png was not attached").waitFor();
  await page.getByRole("img", { name: "Image: pixel.png" }).waitFor();
  const before = model.asked.length;
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await until(
    async () => model.asked.length,
    (count) => count > before,
  );
  expect(model.asked.at(-1)?.messages).toEqual([
    { role: "user", content: [{ type: "image_url", image_url: { url: expect.any(String) } }] },
  ]);
  await answered(page, "A pixel.");
  // One from the clipboard, one dropped from another window.
  const given = await page.getByRole("textbox", { name: "Message" }).evaluate(
    (box, bytes) => {
      const eventWith = (name: string) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], name, { type: "image/png" }));
        return { clipboardData: data, dataTransfer: data, bubbles: true, cancelable: true };
      };
      const events = [new ClipboardEvent("paste", eventWith("pasted.png")), new DragEvent("drop", eventWith("dropped.png"))];
      return events.map((event) => !box.dispatchEvent(event));
    },
    [...pixel],
  );
  expect(given).toEqual([true, true]);
  for (const name of ["pasted.png", "dropped.png"]) await page.getByRole("img", { name: `Image: ${name}` }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("an ended session and a wrong password are reported, and the draft is kept", async () => {
  const { page, context, problems } = await world.portalPage();
  await page.getByRole("textbox", { name: "Message" }).fill("What I had begun to write");
  await page.getByRole("link", { name: "Profile" }).click();
  await page.getByRole("heading", { name: "Profile" }).waitFor();
  await page.goBack();
  const message = page.getByRole("textbox", { name: "Message" });
  expect(await message.inputValue()).toBe("What I had begun to write");

  const other = await world.portalPage();
  await other.page.getByRole("button", { name: /^Your account/ }).click();
  await other.page.getByRole("menuitem", { name: "Sign out everywhere" }).click();
  await other.page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await other.page.getByText("Your session has ended.").count()).toBe(0);
  // The page learns of it without being reloaded.
  await page.getByText("Your session has ended. Sign in again to continue.").waitFor();

  await page.fill("[name=username]", world.person.username);
  await page.fill("[name=password]", "not the password");
  await page.click("form button[type=submit]");
  await page.getByRole("alert").getByText("The user name or the password is wrong.").waitFor();
  await signInOn(page, world.person.username, world.person.password);
  await message.waitFor();
  expect(await message.inputValue()).toBe("What I had begun to write");
  expect(problems).toEqual([]);
  await other.context.close();
  await context.close();
});

withBrowser("a wide table does not break words, and the next conversation starts with the last model", async () => {
  const { page, context, problems } = await world.portalPage();
  const row = (cell: (at: number) => string) => `|${Array.from({ length: 40 }, (_, at) => cell(at)).join("|")}|\n`;
  await ask(page, "Show me a table.");
  await answered(page, `${row((at) => `column${at}`)}${row((at) => (at % 2 === 1 ? "---:" : "---"))}${row((at) => `${at}00000`)}`);
  const cell = page.getByRole("cell", { name: "3900000", exact: true });
  const line = await cell.evaluate((element) => ({
    height: element.clientHeight,
    line: Number.parseFloat(getComputedStyle(element).lineHeight),
  }));
  expect(line.height).toBeLessThan(line.line * 2);
  // Numbers are right-aligned where the answer says so.
  const side = (name: string) => page.getByRole("cell", { name, exact: true }).evaluate((one) => getComputedStyle(one).textAlign);
  expect([await side("3900000"), await side("3800000")]).toEqual(["end", "start"]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);

  await page.getByLabel("Model", { exact: true }).selectOption("echo");
  await page.getByRole("link", { name: "New chat" }).click();
  await page.getByText("What can I help with?").waitFor();
  expect(
    await page.getByLabel("Model", { exact: true }).evaluate((element) => (element as HTMLSelectElement).selectedOptions[0]?.label),
  ).toBe("echo");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a conversation is found by its content, and keeps the name given to it", async () => {
  const { page, context, problems } = await world.portalPage();
  await ask(page, "What is a heron?");
  await answered(page, "A wading bird.");
  await page.getByRole("link", { name: "New chat" }).click();
  await page.getByText("What can I help with?").waitFor();
  await ask(page, "And a tram?");
  await answered(page, "A vehicle on rails.");
  const list = page.getByRole("complementary", { name: "Conversations" });
  const search = list.getByRole("searchbox", { name: "Search conversations" });
  await search.fill("WADING");
  await list.getByRole("link", { name: "And a tram?" }).waitFor({ state: "detached" });
  await list.getByRole("link", { name: "What is a heron?" }).click();
  await page.getByText("A wading bird.").waitFor();
  await search.fill("zebra");
  await list.getByText("No matching conversations.").waitFor();
  await search.fill("");

  await page.getByRole("button", { name: "Rename conversation" }).click();
  await page.getByRole("textbox", { name: "Conversation name" }).fill("Birds of the harbour");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await list.getByRole("link", { name: "Birds of the harbour" }).waitFor();
  await page.reload();
  await list.getByRole("link", { name: "Birds of the harbour" }).waitFor();
  await until(
    () => page.title(),
    (title) => title.includes("Birds of the harbour"),
  );
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a conversation deleted while its answer streams stays deleted", async () => {
  const { page, context, problems } = await world.portalPage();
  // A conversation that was only opened is stored too, with the notice that was shown.
  const kept = () =>
    page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          indexedDB.open("gatehouse.conversations").addEventListener("success", ({ target }) => {
            const { result } = target as IDBOpenDBRequest;
            const found = result.transaction("conversations").objectStore("conversations").getAll();
            found.addEventListener("success", () => resolve(found.result.filter(({ turns }) => turns.length > 0).length));
          });
        }),
    );
  await ask(page, "Something private");
  model.say("The beginning of an answer");
  await page.getByText("The beginning of an answer").waitFor();
  expect(await kept()).toBe(1);
  await page.getByRole("button", { name: "Delete conversation" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("What can I help with?").waitFor();
  await page.reload();
  await page.getByText("What can I help with?").waitFor();
  expect(await kept()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a question blocked by a guardrail does not block later questions", async () => {
  await world.admin.post("/v1/admin/guardrails/configs", {
    ...{ tenant_id: "default", name: "house rules" },
    builtin: { banned_words: ["zeppelin"], banned_words_action: "block" },
  });
  const { page, context, problems } = await world.portalPage();
  const refused = page.getByRole("alert").filter({ hasText: "This was blocked by a rule" });
  await page.getByLabel("Model", { exact: true }).selectOption("a-told-one");
  while ((await refused.count()) === 0) {
    // The rule is in force within a second of its creation.
    await page.goto(`${world.portal}/chat`);
    await page.getByRole("textbox", { name: "Message" }).fill("Tell me of a zeppelin.");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const article = page.getByRole("article", { name: "AI-generated" });
    const begun = model.asked.length;
    await until(
      async () => [await refused.count(), model.asked.length - begun] as const,
      ([blocked, asked]) => blocked > 0 || asked > 0,
    );
    if ((await refused.count()) === 0) await answered(page, "One.");
    await article.first().waitFor();
  }
  await ask(page, "Of a balloon, then.");
  expect(model.asked.at(-1)?.messages).toEqual([{ role: "user", content: "Of a balloon, then." }]);
  await answered(page, "A balloon.");
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("two tabs of one conversation show each other's turns", async () => {
  const { page, context, problems } = await world.portalPage();
  await ask(page, "In the first tab");
  await answered(page, "Answer one");
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByText("Answer one").waitFor();
  await ask(page, "Again in the first tab");
  await answered(page, "Answer two");
  await second.getByText("Answer two").waitFor();
  await ask(second, "In the second tab");
  await answered(second, "Answer three");
  await page.getByText("Answer three").waitFor();
  expect(model.asked.at(-1)?.messages.map(({ content }) => content)).toEqual([
    "In the first tab",
    "Answer one",
    "Again in the first tab",
    "Answer two",
    "In the second tab",
  ]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("two tabs that ask in one conversation at the same time lose no turns", async () => {
  const { page, context, problems } = await world.portalPage({ at: null });
  // As over plain HTTP from another machine: without `navigator.locks`, no tab knows that another one is answering.
  await context.addInitScript(() => Object.defineProperty(navigator, "locks", { value: undefined }));
  await page.goto(`${world.portal}/chat`);
  await ask(page, "To begin with");
  await answered(page, "The beginning");
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByText("The beginning").waitFor();
  await ask(page, "Asked in the first tab");
  const first = model.held();
  await ask(second, "Asked in the second tab");
  await answered(second, "Answered in the second tab");
  first("Answered in the first tab");
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  const said = [
    "To begin with",
    "The beginning",
    ...["first", "second"].flatMap((tab) => [`Asked in the ${tab} tab`, `Answered in the ${tab} tab`]),
  ];
  const all = async (shown: Page) => {
    for (const text of said) await shown.getByRole("region", { name: "Chat" }).getByText(text, { exact: true }).waitFor();
  };
  await all(page);
  await all(second);
  await second.reload();
  await all(second);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the notice is in view in a low window, and a sign-out without a connection is reported", async () => {
  const { page, context } = await world.portalPage({ width: 720, height: 450 });
  await page.getByText("What can I help with?").waitFor();
  await page.locator("[data-notice=inline]").waitFor();
  expect((await placeOf(page)).top).toBe(0);
  await context.setOffline(true);
  await page.getByRole("button", { name: /^Your account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out everywhere" }).click();
  await page.getByText("The gateway did not answer.").first().waitFor();
  await context.close();
});

withBrowser("a refused rating is reported", async () => {
  const { page, context, problems } = await world.portalPage();
  await page.route("**/v1/portal/runs/*/feedback", (route) =>
    route.fulfill({ status: 409, json: { error: "Not now, says the gateway." } }),
  );
  await ask(page, "Is this good?");
  await answered(page, "It is.");
  await page.getByRole("button", { name: "Helpful", exact: true }).click();
  await page.getByText("Not now, says the gateway.").waitFor();
  expect(await page.locator('button[aria-pressed="true"]').count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

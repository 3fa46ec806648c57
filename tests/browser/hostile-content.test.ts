import { afterAll, beforeAll, expect, test } from "bun:test";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

/** The model `echo` repeats the prompt, so each of these comes back as an answer. */
const HOSTILE = [
  "<img src=x onerror=\"document.title='owned'\">",
  "<script>document.title='owned'</script><svg onload=\"document.title='owned'\">",
  "[click](javascript:document.title='owned') [data](data:text/html,<script>1</script>) [vb](vbscript:x)",
  "![picture](https://evil.example/pixel.png) ![](http://169.254.169.254/latest)",
  "```js\nconst half = 'a fence that never ends';",
  "<iframe srcdoc=\"<script>parent.document.title='owned'</script>\"></iframe><form action=https://evil.example><button>x</button></form>",
  "# A heading\n\n<style>*{display:none}</style>\n\n| a |\n|---|\n| <b>1</b> |",
  "‮ right to left שלום and مرحبا",
  "word".repeat(5_000),
  "[a](https://ok.example \"title' onmouseover='document.title=1\")",
];

withBrowser("hostile content in a model's answer is shown as text", async () => {
  const { page, context, problems } = await world.portalPage();
  const message = page.getByRole("textbox", { name: "Message" });
  for (const text of HOSTILE) {
    const before = await page.getByRole("button", { name: "Another answer" }).count();
    await message.fill(text);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("button", { name: "Another answer" }).nth(before).waitFor();
  }
  const seen = await page.evaluate(() => ({
    title: document.title,
    made: [...document.querySelectorAll("article img, article script, article iframe, article form, article style, article svg[onload]")]
      .length,
    handlers: [...document.querySelectorAll("article *")].filter((element) =>
      [...element.attributes].some(({ name }) => name.startsWith("on")),
    ).length,
    links: [...document.querySelectorAll("article a")].map((link) => [
      link.getAttribute("href"),
      link.getAttribute("rel"),
      link.getAttribute("target"),
    ]),
    wide: document.documentElement.scrollWidth > innerWidth,
    headings: document.querySelectorAll("h1").length,
  }));
  expect(seen).toMatchObject({ made: 0, handlers: 0, wide: false, headings: 1 });
  expect(seen.title).not.toContain("owned·");
  expect(new Set(seen.links.map(([href]) => new URL(href ?? "").protocol))).toEqual(new Set(["https:"]));
  for (const [, rel, target] of seen.links) expect([rel, target]).toEqual(["noopener noreferrer nofollow", "_blank"]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("hostile content in a person's profile and in a tool server's name is shown as text", async () => {
  const nasty = "<img src=x onerror=document.title='owned'>";
  await world.admin
    .post("/v1/admin/mcp-servers", { tenant_id: "default", name: nasty.slice(0, 60), base_url: "http://127.0.0.1:9" })
    .catch(() => null);
  const { page, context, problems } = await world.portalPage({ at: "/profile" });
  await page.getByLabel("Display name").fill(nasty);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Profile" }).waitFor();
  expect(await page.title()).toBe("Profile · Gatehouse Portal");
  expect(problems).toEqual([]);
  await context.close();
});

const SIZE = 300_000;
/** CPU time of the page's main thread for one answer: parsing and layout, both while it streams and afterwards. */
const MAX_WORK_MS = 20_000;
/** Each makes a naive Markdown parser take minutes or run out of memory. */
const SLOW: Readonly<Record<string, string>> = {
  "quotes within quotes": ">".repeat(SIZE),
  "emphasis that never ends": "*a_".repeat(SIZE / 3),
  "a list without an end": "- a\n".repeat(SIZE / 4),
  "paragraphs of one letter": "w\n\n".repeat(SIZE / 6),
  "a table without an end": `|a|b|\n|-|-|\n${"|1|2|\n".repeat(SIZE / 6)}`,
  "what only seems to be code": `\`\`\` \`\n${"*a_".repeat(SIZE / 3)}`,
  "code that ends with a carriage return": `\`\`\`\nx\r\`\`\`\r${"*a_".repeat(SIZE / 3)}`,
  "formulas without an end": "$$a$$ ".repeat(SIZE / 6),
};

withBrowser("hundreds of kilobytes of hostile Markdown keep the conversation usable, and are shown as written", async () => {
  const { page, context, problems, settled } = await world.portalPage();
  let answer = "";
  await page.route("**/chat/completions", (route) => {
    const chunk = (content: string) =>
      `data: ${JSON.stringify({ id: "a", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] })}\n\n`;
    const half = answer.length / 2;
    return route.fulfill({
      contentType: "text/event-stream",
      body: `${chunk(answer.slice(0, half))}${chunk(answer.slice(half))}data: [DONE]\n\n`,
    });
  });
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const workedMs = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1000;
  };
  const message = page.getByRole("textbox", { name: "Message" });
  for (const [name, text] of Object.entries(SLOW)) {
    answer = text;
    await page.getByRole("link", { name: "New chat" }).click();
    await message.fill("Say it.");
    const before = await workedMs();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("button", { name: "Another answer" }).waitFor();
    await settled();
    const worked = (await workedMs()) - before;
    console.log(`${name}: ${Math.round(worked)} ms of work`);
    expect([name, worked < MAX_WORK_MS]).toEqual([name, true]);
    await message.fill("and now?");
    expect(await message.inputValue()).toBe("and now?");
  }
  expect(problems).toEqual([]);
  await context.close();
});

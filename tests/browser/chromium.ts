import { existsSync } from "node:fs";
import { PATIENCE_MS } from "../support/patience.ts";
import { type Browser, chromium, type BrowserContext, type Page, type Request } from "playwright-core";

/** Where Debian and other distributions install it. The headless shell renders the same and uses a third less CPU. */
const KNOWN = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of the browser installed on the machine, never of one downloaded by a package; null if there is none, which is a failure in CI. */
export function chromiumPath(): string | null {
  const given = process.env["CHROMIUM_PATH"];
  const found = given ?? KNOWN.find((path) => existsSync(path)) ?? null;
  if (found === null && process.env["CI"] === "true") throw new Error("Chromium is missing: install it or set CHROMIUM_PATH.");
  return found;
}

export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === null) throw new Error("there is no Chromium");
  // Without a GPU, a process of its own for drawing only adds messages about each frame.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--in-process-gpu"] });
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors a person would not see: script errors, policy violations, requests to other hosts. Must stay empty. */
  readonly problems: string[];
  /** Resolves once the page has loaded everything it requested, except event streams, and no longer changes. */
  settled(): Promise<void>;
}

/** How long a page may take to render after everything has loaded. */
const STILL_MS = 400;

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  readonly locale?: string;
}

/** Opens a page in a profile of its own and records everything that must not happen, even if a person would not see it. */
export async function watchedPage(browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const { width = 1440, height = 900, theme = "light", locale = "en-US" } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, locale, reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE_MS);
  const problems: string[] = [];
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // The browser logs each failed response, but the page itself shows those.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (/^(?:https?|wss?):$/.test(protocol) && hostname !== "127.0.0.1") problems.push(`off host: ${request.url()}`);
  });
  await page.exposeFunction("noteViolation", (text: string) => problems.push(`policy: ${text}`));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      const { violatedDirective, blockedURI, sample } = event as unknown as Record<string, string>;
      const { noteViolation } = globalThis as unknown as { noteViolation(text: string): void };
      noteViolation(`${violatedDirective} ${blockedURI} ${sample}`);
    });
  });
  return { page, context, problems, settled: settling(page) };
}

function settling(page: Page): () => Promise<void> {
  const underWay = new Set<Request>();
  let asked = 0;
  page.on("request", (request) => {
    asked++;
    underWay.add(request);
  });
  page.on("requestfinished", (request) => underWay.delete(request));
  page.on("requestfailed", (request) => underWay.delete(request));
  page.on("response", (response) => {
    if (response.headers()["content-type"]?.startsWith("text/event-stream") === true) underWay.delete(response.request());
  });
  return async () => {
    for (let before = -1; before !== asked || underWay.size > 0;) {
      before = asked;
      await page.evaluate(stillFor, STILL_MS);
    }
  };
}

function stillFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    let timer = setTimeout(resolve, ms);
    new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(resolve, ms);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
}

/** Navigates within the app, as its own links do, without loading the page again. Call `settled` afterwards. */
export async function goWithin(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => history.pushState(null, "", to), address);
}

/** Waits until no content is wider than `width` pixels: rules for narrow windows apply from the frame after the resize. */
export async function withinWidth(page: Page, width: number): Promise<void> {
  await page.waitForFunction((most) => document.documentElement.scrollWidth <= most, width);
}

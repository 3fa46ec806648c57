import { existsSync } from "node:fs";
import { PATIENCE_MS } from "../support/patience.ts";
import { type Browser, chromium, type BrowserContext, type Page, type Request } from "playwright-core";

/** Where Debian's and others' packages put it. The shell without a window renders alike and takes a third less of the processor. */
const KNOWN = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser of the machine, never one that a package fetched; null where there is none, which is a failure in CI. */
export function chromiumPath(): string | null {
  const given = process.env["CHROMIUM_PATH"];
  const found = given ?? KNOWN.find((path) => existsSync(path)) ?? null;
  if (found === null && process.env["CI"] === "true") throw new Error("Chromium is missing: install it or set CHROMIUM_PATH.");
  return found;
}

export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === null) throw new Error("there is no Chromium");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Error unseen: errors of scripts, violations of the policy, requests to other hosts. To be empty. */
  readonly problems: string[];
  /** Resolves once the page has what it asked for, streams of events aside, and changes no more. */
  settled(): Promise<void>;
}

/** How long a page that has all it asked for may take to show it. */
const STILL_MS = 400;

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  readonly locale?: string;
}

/** A page in a profile of its own that notes whatever a person would not see but must not happen. */
export async function watchedPage(browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const { width = 1440, height = 900, theme = "light", locale = "en-US" } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, locale, reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE_MS);
  const problems: string[] = [];
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // The browser's own line for an answer that is no success says what the page itself shows.
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

/** To another address of the app that is shown, as the app's own links lead there, which loads nothing again. To be settled then. */
export async function goWithin(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => history.pushState(null, "", to), address);
}

/** Until nothing stands beyond so many pixels: rules for narrow windows hold from the frame after a window was made narrow. */
export async function withinWidth(page: Page, width: number): Promise<void> {
  await page.waitForFunction((most) => document.documentElement.scrollWidth <= most, width);
}

import type { Browser, Page } from "playwright-core";
import { type AdminClient, signIn } from "../support/worlds/admin.ts";
import { buildPages } from "../support/worlds/built-pages.ts";
import { testDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { launchChromium, type PageOptions, type WatchedPage, watchedPage } from "./chromium.ts";

/** A gateway after its first start, with its pages built, and a browser. */
export interface BrowserWorld {
  readonly gateway: GatewayProcess;
  readonly admin: AdminClient;
  readonly browser: Browser;
  readonly databaseUrl: string;
  readonly portal: string;
  readonly console: string;
  /** The credentials that the first start printed. */
  readonly person: { readonly username: string; readonly password: string };
  readonly apiKey: string;
  /** Opens a page in a new browser profile at the portal, signed in as that person. */
  portalPage(options?: PageOptions): Promise<WatchedPage>;
  end(): Promise<void>;
}

async function printed(gateway: GatewayProcess, pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = pattern.exec(gateway.output());
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function startBrowserWorld(env: Record<string, string> = {}): Promise<BrowserWorld> {
  buildPages();
  const database = await testDatabase();
  const gateway = await startGateway({ databaseUrl: database.url, env });
  const [, username = "", password = ""] = await printed(gateway, /portal user +(\S+) \/ (\S+)/);
  const [, apiKey = ""] = await printed(gateway, /API key +(\S+)/);
  const admin = await signIn(gateway.adminUrl);
  const browser = await launchChromium();
  const portal = `${gateway.runtimeUrl}/portal`;
  return {
    gateway,
    admin,
    browser,
    databaseUrl: database.url,
    portal,
    console: `${gateway.adminUrl}/console`,
    person: { username, password },
    apiKey,
    async portalPage(options = {}) {
      const watched = await watchedPage(browser, options);
      await watched.page.goto(`${portal}/chat`);
      await signInOn(watched.page, username, password);
      return watched;
    },
    async end() {
      await browser.close();
      await gateway.stop();
      await database.close();
      await removeDirectory(gateway.dataDir);
    },
  };
}

/** Fills in the sign-in form and waits until it is gone. */
export async function signInOn(page: Page, username: string, password: string): Promise<void> {
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", password);
  await page.click("form button[type=submit]");
  await page.waitForSelector("nav#navigation", { state: "attached" });
}

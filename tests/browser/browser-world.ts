import type { Browser, Page } from "playwright-core";
import { type AdminClient, signIn } from "../support/worlds/admin.ts";
import { logIn } from "../support/worlds/portal.ts";
import { buildPages } from "../support/worlds/built-pages.ts";
import { testDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { launchChromium, type PageOptions, type WatchedPage, watchedPage } from "./chromium.ts";

interface SignedInOptions extends PageOptions {
  /** The path within the app that is opened; null opens nothing yet. */
  readonly at?: string | null;
}

interface ConsoleOptions extends SignedInOptions {
  /** The first administrator if absent. */
  readonly by?: AdminClient;
}

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
  /** Opens a page of the portal in a new browser profile that is signed in as that person. */
  portalPage(options?: SignedInOptions): Promise<WatchedPage>;
  /** Opens a page of the console in a new browser profile that is signed in. */
  consolePage(options?: ConsoleOptions): Promise<WatchedPage>;
  end(): Promise<void>;
}

async function printed(gateway: GatewayProcess, pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = pattern.exec(gateway.output());
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The gateway begins sessions only for tokens of the last five minutes. */
const FRESH_MS = 2 * 60_000;

/** Signs the profile in as the app's sign-in form would, without loading the form. */
async function giveSession({ context }: WatchedPage, sessionUrl: string, token: string): Promise<void> {
  const begun = await fetch(sessionUrl, { method: "POST", headers: { "x-gw-session": "page", authorization: `Bearer ${token}` } });
  const [, name = "", value = ""] = /^([^=]+)=([^;]+)/.exec(begun.headers.get("set-cookie") ?? "") ?? [];
  if (value === "") throw new Error(`session: ${begun.status} ${await begun.text()}`);
  const { hostname: domain, pathname: path } = new URL(sessionUrl);
  await context.addCookies([{ name, value, domain, path, httpOnly: true, sameSite: "Strict" }]);
}

async function openSigned(watched: WatchedPage, address: string | null): Promise<WatchedPage> {
  if (address === null) return watched;
  await watched.page.goto(address);
  await watched.page.waitForSelector("nav#navigation", { state: "attached" });
  return watched;
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
  const consoleUrl = `${gateway.adminUrl}/console`;
  let latest = { at: Date.now(), by: admin };
  const signedInNow = async () => {
    if (Date.now() - latest.at > FRESH_MS) latest = { at: Date.now(), by: await signIn(gateway.adminUrl) };
    return latest.by;
  };
  return {
    gateway,
    admin,
    browser,
    databaseUrl: database.url,
    portal,
    console: consoleUrl,
    person: { username, password },
    apiKey,
    async portalPage({ at = "/chat", ...options } = {}) {
      const watched = await watchedPage(browser, options);
      const { token } = await logIn(gateway.runtimeUrl, username, password);
      await giveSession(watched, `${gateway.runtimeUrl}/v1/portal/auth/session`, token ?? "");
      return openSigned(watched, at === null ? null : portal + at);
    },
    async consolePage({ at = "/", by, ...options } = {}) {
      const watched = await watchedPage(browser, options);
      const { token } = by ?? (await signedInNow());
      await giveSession(watched, `${gateway.adminUrl}/v1/admin-users/session`, token);
      return openSigned(watched, at === null ? null : consoleUrl + at);
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

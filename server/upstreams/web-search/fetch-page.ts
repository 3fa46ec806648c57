import { BoundedCache, ENTRY_OVERHEAD } from "../../kernel/collections/bounded-cache.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { OutboundDenied } from "../../runtime/destinations.ts";
import { type Outbound, OutboundTimeout } from "../../runtime/outbound.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { robotsAllow } from "./robots.ts";

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_ROBOTS_BYTES = 512 * 1024;
const DEADLINE_MS = 15_000;
const ROBOTS_CACHE_MS = 3_600_000;
/** Most characters cached over all sites. */
const ROBOTS_CACHE_BYTES = 8_000_000;
const MAX_REDIRECTS = 5;
const AGENT = "gatehouse";
const READABLE = /^(?:text\/(?:html|plain|markdown)|application\/(?:pdf|xhtml\+xml|json|[\w.-]+\+json))$/;

export interface WebPage {
  /** All URLs visited; the last one is the page's. */
  readonly addresses: readonly URL[];
  /** Media type without parameters. */
  readonly type: string;
  readonly charset: string | null;
  readonly bytes: Uint8Array;
  /** Whether the site's Cache-Control allows storing the page. */
  readonly mayKeep: boolean;
}

export interface PageFetchParts {
  /** Must refuse private addresses and connect only to addresses it resolved itself. */
  readonly outbound: Outbound;
  readonly now: () => number;
  readonly ports?: ReadonlySet<string>;
}

/**
 * Fetches a page; a string says why it could not be read. `refused` returns why a URL may not be fetched, null if it may; it is asked again
 * for each redirect.
 */
export type FetchPage = (address: URL, refused: (address: URL) => string | null, signal: AbortSignal) => Promise<WebPage | string>;

const WEB_PORTS: ReadonlySet<string> = new Set(["", "80", "443"]);

export function pageFetch({ outbound, now, ports = WEB_PORTS }: PageFetchParts): FetchPage {
  const robots = new BoundedCache<string | null>(ROBOTS_CACHE_BYTES, now);

  async function get(address: URL, abort: AbortController): Promise<Response> {
    return outbound.fetch(address.href, {
      method: "GET",
      headers: {
        accept: "text/html, text/markdown, text/plain, application/pdf;q=0.9, application/json;q=0.9",
        "user-agent": `${AGENT} (web_fetch)`,
      },
      abort,
      timeoutMs: DEADLINE_MS,
    });
  }

  /** Null: the site refuses all crawlers. */
  async function robotsOf({ origin }: URL, abort: AbortController): Promise<string | null> {
    const known = robots.get(origin);
    if (known !== undefined) return known;
    const response = await get(new URL("/robots.txt", origin), abort);
    let text: string | null = "";
    if (response.ok) {
      const bytes = await readUpTo(response.body, MAX_ROBOTS_BYTES);
      text = bytes === null ? "" : new TextDecoder().decode(bytes);
    } else {
      await cancelQuietly(response.body);
      if (response.status === 401 || response.status === 403) text = null;
    }
    robots.set(origin, text, ROBOTS_CACHE_MS, ENTRY_OVERHEAD + (text?.length ?? 0));
    return text;
  }

  async function follow(first: URL, refused: (address: URL) => string | null, abort: AbortController): Promise<WebPage | string> {
    const addresses: URL[] = [];
    for (let address = first; ;) {
      const no = unfit(address, ports) ?? refused(address);
      if (no !== null) return addresses.length === 0 ? no : `It leads on to another address. ${no}`;
      addresses.push(address);
      const rules = await robotsOf(address, abort);
      if (rules === null || !robotsAllow(rules, AGENT, `${address.pathname}${address.search}`))
        return "The site's robots.txt does not let programs read this page.";
      const response = await get(address, abort);
      const next = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
      if (next === null) return await pageOf(response, addresses);
      await cancelQuietly(response.body);
      if (addresses.length > MAX_REDIRECTS) return "It leads on to other addresses again and again.";
      try {
        address = new URL(next, address);
      } catch {
        return "It leads on to something that is no address.";
      }
    }
  }

  return async (address, refused, signal) => {
    const abort = new AbortController();
    const stop = () => abort.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const late = setTimeout(() => abort.abort(new OutboundTimeout("no whole page in time")), DEADLINE_MS);
    try {
      return await follow(address, refused, abort);
    } catch (error) {
      if (error instanceof OutboundTimeout) return "The page did not come in time.";
      if (error instanceof OutboundDenied) return "The address is not on the public internet.";
      return "The page could not be reached.";
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", stop);
    }
  };
}

function unfit({ protocol, port, username, password }: URL, ports: ReadonlySet<string>): string | null {
  if (protocol !== "http:" && protocol !== "https:") return "Only addresses of http and https are read.";
  if (username !== "" || password !== "") return "The address must carry no user and no password.";
  return ports.has(port) ? null : "Only the ports 80 and 443 are asked.";
}

async function pageOf(response: Response, addresses: readonly URL[]): Promise<WebPage | string> {
  const [type = "", ...parameters] = (response.headers.get("content-type") ?? "text/plain").toLowerCase().split(";");
  const drop = async (why: string) => {
    await cancelQuietly(response.body);
    return why;
  };
  if (!response.ok) return drop(`The site answered with HTTP ${response.status}.`);
  if (!READABLE.test(type.trim())) return drop("The page is neither HTML nor text nor JSON nor PDF.");
  const bytes = await readUpTo(response.body, MAX_BYTES);
  if (bytes === null) return "The page is larger than 5 MB.";
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([\w.:-]+)/.exec(parameter)?.[1]).find((found) => found !== undefined);
  const caching = response.headers.get("cache-control") ?? "";
  return { addresses, type: type.trim(), charset: charset ?? null, bytes, mayKeep: !/no-store|no-cache|private/i.test(caching) };
}

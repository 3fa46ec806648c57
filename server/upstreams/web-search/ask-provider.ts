import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { beginningOf } from "../../kernel/text/character-start.ts";
import { OutboundDenied } from "../../runtime/destinations.ts";
import { type Outbound, OutboundTimeout } from "../../runtime/outbound.ts";
import { brave } from "./brave.ts";
import { exa } from "./exa.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import type { FoundPage, SearchProvider, SearchQuestion } from "./search-provider.ts";
import { searxng } from "./searxng.ts";
import { tavily } from "./tavily.ts";

const PROVIDERS = { brave, tavily, exa, searxng } satisfies Record<string, SearchProvider>;
export type SearchProviderKind = keyof typeof PROVIDERS;

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_LENGTHS = { title: 300, url: 2_000, snippet: 1_000, published: 40 } as const;

export interface ConfiguredProvider {
  readonly kind: SearchProviderKind;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly timeoutMs: number;
}

/** Returns the pages found, or a reason why there are none, which never contains the provider's key. */
export type AskProvider = (provider: ConfiguredProvider, question: SearchQuestion, signal: AbortSignal) => Promise<FoundPage[] | string>;

export function askProvider(outbound: Outbound): AskProvider {
  return async ({ kind, baseUrl, apiKey, timeoutMs }, question, signal) => {
    const provider: SearchProvider = PROVIDERS[kind];
    const abort = new AbortController();
    const stop = () => abort.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const late = setTimeout(() => abort.abort(new OutboundTimeout("no whole answer in time")), timeoutMs);
    try {
      const { url, ...init } = provider.request(baseUrl, apiKey, question);
      const response = await outbound.fetch(url, { ...init, abort, timeoutMs });
      if (!response.ok) {
        await cancelQuietly(response.body);
        return response.status === 401 || response.status === 403
          ? "it does not take the gateway's credential"
          : response.status === 429
            ? "it takes no more searches just now"
            : `it answered with HTTP ${response.status}`;
      }
      const bytes = await readUpTo(response.body, MAX_BYTES);
      if (bytes === null) return "its answer is too large";
      return pagesOf(provider, JSON.parse(new TextDecoder().decode(bytes)));
    } catch (error) {
      if (error instanceof OutboundTimeout) return "it did not answer in time";
      if (error instanceof OutboundDenied) return "its address is not allowed from this gateway";
      return error instanceof SyntaxError ? "its answer cannot be read" : "it could not be reached";
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", stop);
    }
  };
}

function pagesOf(provider: SearchProvider, answer: unknown): FoundPage[] | string {
  const items = typeof answer === "object" && answer !== null ? provider.itemsOf(answer as Record<string, unknown>) : null;
  if (!Array.isArray(items)) return "its answer cannot be read";
  return items.slice(0, 100).flatMap((item): FoundPage[] => {
    if (typeof item !== "object" || item === null) return [];
    const page = provider.page(item as Record<string, unknown>);
    if (typeof page.url !== "string" || page.url.length > MAX_LENGTHS.url) return [];
    return [
      {
        title: words(page.title, MAX_LENGTHS.title),
        url: page.url,
        snippet: words(page.snippet, MAX_LENGTHS.snippet),
        published: typeof page.published === "string" ? beginningOf(page.published, MAX_LENGTHS.published) : null,
      },
    ];
  });
}

/** Text without the markup that vendors put around matching words. */
function words(value: unknown, longest: number): string {
  if (typeof value !== "string") return "";
  const plain = value
    .slice(0, longest * 4)
    .replaceAll(/<\/?(?:strong|b|em|mark)>/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return beginningOf(plain, longest);
}

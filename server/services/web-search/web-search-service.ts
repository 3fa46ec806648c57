import { WEB_SEARCH_URL } from "../../directory/web-search/own-server.ts";
import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Job } from "../../kernel/scheduling/job.ts";
import type { Call } from "../../road/call.ts";
import type { AskProvider } from "../../upstreams/web-search/ask-provider.ts";
import { BoundedCache } from "../../kernel/collections/bounded-cache.ts";
import { semaphore } from "../../kernel/scheduling/semaphore.ts";
import type { FetchPage } from "../../upstreams/web-search/fetch-page.ts";
import { META, STATELESS_VERSION } from "../../wire/mcp/dialect.ts";
import { errorText, isRpcProblem, readRpc, resultText, type RpcMessage } from "../../wire/mcp/rpc.ts";
import { CAPABILITIES, INSTRUCTIONS, SERVER_INFO, TOOLS } from "./definitions.ts";
import { fetchWeb, type FetchParts } from "./fetch-tool.ts";
import type { ReturnedAddresses } from "../../directory/web-search/returned-addresses.ts";
import type { PageReaders, PdfReader } from "./readable-page.ts";
import { searchWeb, type SearchParts } from "./search-tool.ts";
import { resultOf } from "./tool-result.ts";

/** Cache sizes, in characters across all entries. */
const SEARCH_CACHE_BYTES = 16_000_000;
const PAGE_CACHE_BYTES = 8_000_000;
const PRUNED_MS = 600_000;

export interface WebSearchParts extends PageReaders {
  readonly clock: Clock;
  readonly addresses: ReturnedAddresses;
  readonly ask: AskProvider;
  readonly fetch: FetchPage;
  readonly gates: FetchParts["gates"];
}

/**
 * The gateway's own tool server for web search, speaking the stateless dialect. Returns null if the request is addressed to another server.
 */
export type OwnToolServer = (
  call: Call,
  request: { readonly url: string; readonly body?: string | Uint8Array },
) => Promise<Response | Refusal> | null;

export function openWebSearch({ clock, addresses, ask, fetch, gates, reader, readPdf }: WebSearchParts): {
  readonly server: OwnToolServer;
  readonly jobs: readonly Job[];
} {
  const now = () => clock.now();
  const parts = {
    ask,
    cache: new BoundedCache(SEARCH_CACHE_BYTES, now),
    fetch,
    gates,
    pages: new BoundedCache(PAGE_CACHE_BYTES, now),
    reader,
    readPdf: oneByOne(readPdf),
    addresses,
  } satisfies SearchParts & FetchParts;
  return {
    server: (call, { url, body }) => (url === WEB_SEARCH_URL ? answered(call, body ?? "", parts) : null),
    jobs: [{ name: "prune_web_search_addresses", everyMs: PRUNED_MS, run: () => addresses.prune() }],
  };
}

/** Limits concurrent PDF reading, because each document is read in a process of its own. */
function oneByOne(read: PdfReader): PdfReader {
  const places = semaphore({ most: 4, mostOfOne: 2, waitMs: 15_000 });
  return async (content, tenantId) => {
    const leave = await places(tenantId);
    if (leave === null) return "Too many documents are being read just now.";
    try {
      return await read(content, tenantId);
    } finally {
      leave();
    }
  };
}

async function answered(call: Call, body: string | Uint8Array, parts: SearchParts & FetchParts): Promise<Response | Refusal> {
  const message = readRpc(typeof body === "string" ? new TextEncoder().encode(body) : body);
  if (isRpcProblem(message)) return json(errorText(null, { code: -32600, message: "This is no message of the protocol." }), 400);
  if (message.kind !== "request") return new Response(null, { status: 202 });
  const response = await result(call, message, parts);
  if (typeof response !== "string" && response !== null) return response;
  return json(response ?? errorText(message.id, { code: -32601, message: "This method is not served here." }));
}

async function result(call: Call, message: RpcMessage, parts: SearchParts & FetchParts): Promise<string | Refusal | null> {
  const { id, method, params } = message;
  const valueResult = (value: object) => resultText(id, JSON.stringify(value));
  switch (method) {
    case "server/discover":
      return valueResult({
        resultType: "complete",
        supportedVersions: [STATELESS_VERSION],
        capabilities: CAPABILITIES,
        instructions: INSTRUCTIONS,
        ttlMs: 0,
        cacheScope: "private",
        _meta: { [META.serverInfo]: SERVER_INFO },
      });
    case "tools/list":
      return valueResult({ resultType: "complete", tools: TOOLS, ttlMs: 0, cacheScope: "private" });
    case "tools/call":
      if (params.name === "web_search") return valueResult(resultOf(await searchWeb(call, params.arguments, parts)));
      if (params.name === "web_fetch") {
        const read = await fetchWeb(call, params.arguments, parts);
        return isRefusal(read) ? read : valueResult(resultOf(read));
      }
      return errorText(id, { code: -32602, message: "There is no such tool." });
    default:
      return null;
  }
}

function json(text: string, status = 200): Response {
  return new Response(text, { status, headers: { "content-type": "application/json" } });
}

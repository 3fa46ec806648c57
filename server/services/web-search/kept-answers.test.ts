import { expect, test } from "bun:test";
import { WEB_SEARCH_URL } from "../../directory/web-search/own-server.ts";
import type { Call } from "../../road/call.ts";
import type { AskProvider } from "../../upstreams/web-search/ask-provider.ts";
import type { FetchPage } from "../../upstreams/web-search/fetch-page.ts";
import { openWebSearch } from "./web-search-service.ts";

/** Searches and pages are cached for all tenants of a process: one tenant's requests must not exhaust its memory. */
function serving({ ask = async () => "nothing", fetch = async () => "nothing" }: { ask?: AskProvider; fetch?: FetchPage }) {
  const { server } = openWebSearch({
    clock: { now: () => 0, micros: () => 0 },
    addresses: { give: async () => undefined, wasReturned: async () => true } as never,
    gates: { inspects: () => false, inspect: async () => null },
    ...{ ask, fetch, readPdf: async () => "no" },
    reader: () => ({ push: () => undefined, end: () => [] }),
  });
  const provider = { id: "p", name: "p", version: 1, safeSearch: "off", maxResults: 10, priceMicros: null, cacheMs: 60_000 };
  const policies = { effective: () => new Map([["fetch.addresses", "any"]]), ownFields: () => new Map() };
  const scope = { tenant: { id: "t", policies, webSearch: [provider] }, chain: [], groupId: "g" };
  return async (name: string, args: object) => {
    const call = { scope, row: {}, abort: new AbortController(), identity: { tenantId: "t", userId: "u" } } as unknown as Call;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
    const answer = await server(call, { url: WEB_SEARCH_URL, body });
    return answer instanceof Response ? answer.json() : answer;
  };
}

/** Growth of the resident memory in MB. */
async function grown(work: () => Promise<void>): Promise<number> {
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  await work();
  Bun.gc(true);
  return (process.memoryUsage().rss - before) / 1e6;
}

const found = (snippet: string, published: string | null = null) => [{ title: "t", url: "https://a.test/", snippet, published }];
/** One flat string, as a decoder returns it, rather than a rope. */
const decoded = (length: number) => new TextDecoder().decode(new Uint8Array(length).fill(0x61));

test("a cached result does not keep the rest of the answer in memory", async () => {
  const call = serving({
    ask: async () => found("s", decoded(2_000_000).slice(0, 40)),
    fetch: async (address) => ({
      ...{ addresses: [address], type: "text/html", charset: null, mayKeep: true },
      bytes: new TextEncoder().encode(`<title>${"otters ".repeat(20)}</title>${"x".repeat(2_000_000)}`),
    }),
  });
  expect(
    await grown(async () => {
      for (let i = 0; i < 300; i++) await call("web_search", { query: `q${i}` });
    }),
  ).toBeLessThan(150);
  expect(
    await grown(async () => {
      for (let i = 0; i < 300; i++) await call("web_fetch", { url: `https://a.test/${i}` });
    }),
  ).toBeLessThan(150);
});

test("large answers and empty pages are evicted from the cache to make room for others", async () => {
  let asked = 0;
  const call = serving({
    ask: async () => {
      asked++;
      return Array.from({ length: 100 }, () => found("s".repeat(3_000))).flat();
    },
    fetch: async (address) => {
      asked++;
      return { addresses: [address], type: "text/html", charset: null, mayKeep: true, bytes: new Uint8Array() };
    },
  });
  const askedFor = async (name: string, args: object) => {
    const before = asked;
    await call(name, args);
    return asked - before;
  };
  for (let i = 0; i < 100; i++) await call("web_search", { query: `q${i}` });
  expect([await askedFor("web_search", { query: "q99" }), await askedFor("web_search", { query: "q0" })]).toEqual([0, 1]);
  for (let i = 0; i < 8_000; i++) await call("web_fetch", { url: `https://a.test/${i}` });
  const pages = [await askedFor("web_fetch", { url: "https://a.test/7999" }), await askedFor("web_fetch", { url: "https://a.test/0" })];
  expect(pages).toEqual([0, 1]);
});

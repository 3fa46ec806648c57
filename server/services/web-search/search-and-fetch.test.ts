import { expect, test } from "bun:test";
import { WEB_SEARCH_URL } from "../../directory/web-search/own-server.ts";
import type { Call } from "../../road/call.ts";
import type { FoundPage, SearchQuestion } from "../../upstreams/web-search/search-provider.ts";
import { openWebSearch } from "./web-search-service.ts";

/** Builds a server for a group whose allow lists are `allowed`. Searches return `found`; every page contains `text`. */
function serving({
  allowed = [],
  common = [],
  found = [],
  text = "",
}: {
  allowed?: string[][];
  common?: string[];
  found?: FoundPage[];
  text?: string;
}) {
  const questions: SearchQuestion[] = [];
  const { server } = openWebSearch({
    clock: { now: () => 0, micros: () => 0 },
    addresses: { give: async () => undefined, wasReturned: async () => true } as never,
    gates: { inspects: () => false, inspect: async () => null },
    ask: async (_provider, question) => {
      questions.push(question);
      return found;
    },
    fetch: async (address) => ({
      ...{ addresses: [address], type: "text/plain", charset: null, mayKeep: true },
      bytes: new TextEncoder().encode(text),
    }),
    readPdf: async () => "no",
    reader: () => ({ push: () => undefined, end: () => [] }),
  });
  const provider = { id: "p", name: "p", version: 1, safeSearch: "off", maxResults: 10, priceMicros: 5_000, cacheMs: 0 };
  const policies = {
    effective: () =>
      new Map<string, unknown>([["fetch.addresses", "any"], ...(allowed.length === 0 ? [] : [["domains.allowed", common] as const])]),
    ownFields: (id: number) => new Map([["domains.allowed", allowed[id]]]),
  };
  const scope = { tenant: { id: "t", policies, webSearch: [provider] }, chain: allowed.map((_, id) => ({ id })), groupId: "g" };
  const call = async (name: string, args: object): Promise<any> => {
    const row: Record<string, unknown> = {};
    const asking = { scope, row, abort: new AbortController(), identity: { tenantId: "t", userId: "u" } } as unknown as Call;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
    const answer = await server(asking, { url: WEB_SEARCH_URL, body });
    const answered: any = answer instanceof Response ? await answer.json() : answer;
    return { ...answered.result, cost: row.llm_estimated_cost_usd };
  };
  return { call, questions };
}

test("a search in a domain is limited to the allowed subdomains of it", async () => {
  const { call, questions } = serving({ allowed: [["docs.example.com", "other.test"]], common: ["docs.example.com", "other.test"] });
  await call("web_search", { query: "otters", domains: ["example.com"] });
  await call("web_search", { query: "otters", domains: ["a.docs.example.com", "evil.test"] });
  expect(questions.map(({ domains }) => [...domains])).toEqual([["docs.example.com"], ["a.docs.example.com"]]);
});

test("a search whose domains are all disallowed is not made, and costs nothing", async () => {
  const one = serving({ allowed: [["docs.example.com"]], common: ["docs.example.com"] });
  const none = serving({ allowed: [["a.test"], ["b.test"]] });
  for (const { call, questions } of [one, none]) {
    const { isError, content, cost } = await call("web_search", { query: "otters", domains: ["evil.test"] });
    expect([isError, content[0].text, cost, questions]).toEqual([
      true,
      "The search was not made: nothing of where it would search is allowed here.",
      undefined,
      [],
    ]);
  }
  expect([(await none.call("web_search", { query: "otters" })).isError, none.questions]).toEqual([true, []]);
});

test("invisible characters are removed from search results, including their URLs", async () => {
  const hidden = "\u{E0069}\u{E0067}\u200B\u202E";
  const page = {
    title: `Otters${hidden}`,
    url: `https://a.test/o${hidden}?q=1#top`,
    snippet: `swim${hidden}`,
    published: `today${hidden}`,
  };
  const { content, structuredContent } = await serving({ found: [page] }).call("web_search", { query: "otters" });
  const [{ url, ...words }] = structuredContent.results;
  expect(words).toEqual({ title: "Otters", snippet: "swim", published: "today" });
  expect(new URL(url).href).toBe(new URL(page.url).href);
  for (const said of [url, content[0].text]) expect(said).not.toMatch(/[\u{E0000}-\u{E007F}\u200B\u202E]/u);
});

test("a page is read in parts that never split a character", async () => {
  const text = `${"a".repeat(9)}😀${"b".repeat(9)}😀😀`;
  const { call } = serving({ text });
  for (const max_length of [1, 10]) {
    const pieces: string[] = [];
    for (let next: number | null = 0; next !== null;) {
      const { structuredContent }: any = await call("web_fetch", { url: "https://a.test/", start_index: next, max_length });
      pieces.push(structuredContent.text);
      next = structuredContent.next_index;
    }
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(pieces.join("")).toBe(text);
  }
  const within = await call("web_fetch", { url: "https://a.test/", start_index: 10, max_length: 3 });
  expect([within.structuredContent.text, within.structuredContent.start_index]).toEqual(["😀b", 9]);
});

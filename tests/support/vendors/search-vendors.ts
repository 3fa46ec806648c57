/** Fake web search providers, and web pages. */
export interface SearchVendors {
  readonly url: string;
  /** Search requests received, by vendor. */
  readonly asked: { readonly vendor: string; readonly query: URLSearchParams; readonly headers: Headers; readonly body: any }[];
  /** Results of the following searches. */
  found: { title: string; url: string; text: string }[];
  /** HTTP status of Brave's answers. */
  braveStatus: number;
  stop(): Promise<void>;
}

export function startSearchVendors(): SearchVendors {
  const asked: SearchVendors["asked"] = [];
  const vendors = { found: [] as SearchVendors["found"], braveStatus: 200 };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, searchParams: query } = new URL(request.url);
      const body = request.method === "POST" ? await request.json() : null;
      const note = (vendor: string) => asked.push({ vendor, query, headers: request.headers, body });
      if (request.method === "GET" && pathname === "/res/v1/web/search") {
        note("brave");
        if (vendors.braveStatus !== 200) return Response.json({ type: "ErrorResponse" }, { status: vendors.braveStatus });
        const results = vendors.found.map(({ title, url, text }) => ({
          type: "search_result",
          title,
          url,
          description: `<strong>${text}</strong>`,
          page_age: "2026-01-02T00:00:00",
        }));
        return Response.json({ type: "search", query: { original: query.get("q") }, web: { type: "search", results } });
      }
      if (request.method === "POST" && pathname === "/search") {
        const vendor = request.headers.has("x-api-key") ? "exa" : "tavily";
        note(vendor);
        const results = vendors.found.map(({ title, url, text }) =>
          vendor === "exa"
            ? { id: url, title, url, text, publishedDate: "2026-01-02" }
            : { title, url, content: text, score: 0.9, raw_content: null },
        );
        return Response.json({ results, response_time: 0.1 });
      }
      if (request.method === "GET" && pathname === "/search" && query.get("format") === "json") {
        note("searxng");
        return Response.json({
          query: query.get("q"),
          results: vendors.found.map(({ title, url, text }) => ({ title, url, content: text })),
        });
      }
      return new Response("not here", { status: 404 });
    },
  });
  return Object.assign(vendors, { url: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) });
}

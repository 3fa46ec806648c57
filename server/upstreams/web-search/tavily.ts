import type { SearchProvider } from "./search-provider.ts";

export const tavily: SearchProvider = {
  request(baseUrl, apiKey, { query, maxResults, freshness, domains, excluded }) {
    return {
      url: `${baseUrl}/search`,
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json", authorization: `Bearer ${apiKey ?? ""}` },
      body: JSON.stringify({
        query,
        max_results: Math.min(maxResults, 20),
        search_depth: "basic",
        ...(freshness === null ? {} : { time_range: freshness }),
        ...(domains.length === 0 ? {} : { include_domains: domains.slice(0, 300) }),
        ...(excluded.length === 0 ? {} : { exclude_domains: excluded.slice(0, 150) }),
      }),
    };
  },
  itemsOf: ({ results }) => results,
  page: ({ title, url, content }) => ({ title, url, snippet: content, published: null }),
};

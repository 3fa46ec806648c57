import type { SearchProvider } from "./search-provider.ts";

const SAFE = { off: "0", moderate: "1", strict: "2" } as const;

/** A self-hosted SearXNG server, whose JSON format must be enabled. */
export const searxng: SearchProvider = {
  request(baseUrl, apiKey, { query, freshness, safeSearch, language }) {
    const params = new URLSearchParams({ q: query, format: "json", safesearch: SAFE[safeSearch] });
    if (freshness !== null) params.set("time_range", freshness);
    if (language !== null) params.set("language", language);
    return {
      url: `${baseUrl}/search?${params}`,
      method: "GET",
      headers: { accept: "application/json", ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }) },
    };
  },
  itemsOf: ({ results }) => results,
  page: ({ title, url, content, publishedDate }) => ({ title, url, snippet: content, published: publishedDate }),
};

import type { SearchProvider } from "./search-provider.ts";

const FRESHNESS = { day: "pd", week: "pw", month: "pm", year: "py" } as const;

const MAX_QUERY_LENGTH = 400;

export const brave: SearchProvider = {
  request(baseUrl, apiKey, { query, maxResults, freshness, safeSearch, country, language, domains }) {
    const sites = domains.length > 0 && domains.length <= 5 ? ` (${domains.map((domain) => `site:${domain}`).join(" OR ")})` : "";
    const params = new URLSearchParams({
      // If the filter does not fit it is left out, because truncated domains would match others; results from elsewhere are dropped later
      // anyway.
      q: query.length + sites.length <= MAX_QUERY_LENGTH ? `${query}${sites}` : query,
      count: String(Math.min(maxResults, 20)),
      safesearch: safeSearch,
    });
    if (freshness !== null) params.set("freshness", FRESHNESS[freshness]);
    if (country !== null) params.set("country", country);
    if (language !== null) params.set("search_lang", language);
    return {
      url: `${baseUrl}/res/v1/web/search?${params}`,
      method: "GET",
      headers: { accept: "application/json", "x-subscription-token": apiKey ?? "" },
    };
  },
  itemsOf: ({ web }) => (web as { results?: unknown } | undefined)?.results ?? [],
  page: ({ title, url, description, page_age: published }) => ({ title, url, snippet: description, published }),
};

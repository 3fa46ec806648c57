import type { SearchProvider } from "./search-provider.ts";

const DAYS = { day: 1, week: 7, month: 31, year: 366 } as const;
const DAY_MS = 86_400_000;
const SNIPPET = 600;

export const exa: SearchProvider = {
  request(baseUrl, apiKey, { query, maxResults, freshness, safeSearch, domains, excluded }) {
    return {
      url: `${baseUrl}/search`,
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json", "x-api-key": apiKey ?? "" },
      body: JSON.stringify({
        query,
        numResults: Math.min(maxResults, 25),
        moderation: safeSearch !== "off",
        contents: { text: { maxCharacters: SNIPPET } },
        ...(freshness === null ? {} : { startPublishedDate: new Date(Date.now() - DAYS[freshness] * DAY_MS).toISOString() }),
        ...(domains.length === 0 ? {} : { includeDomains: domains }),
        ...(excluded.length === 0 ? {} : { excludeDomains: excluded }),
      }),
    };
  },
  itemsOf: ({ results }) => results,
  page: ({ title, url, text, summary, highlights, publishedDate }) => ({
    title,
    url,
    snippet: text ?? summary ?? (Array.isArray(highlights) ? highlights[0] : undefined),
    published: publishedDate,
  }),
};

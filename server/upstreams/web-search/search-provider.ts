/** A search as it is put to a provider. */
export interface SearchQuestion {
  readonly query: string;
  readonly maxResults: number;
  readonly freshness: "day" | "week" | "month" | "year" | null;
  readonly safeSearch: "off" | "moderate" | "strict";
  readonly country: string | null;
  readonly language: string | null;
  /** For providers that filter by themselves. */
  readonly domains: readonly string[];
  readonly excluded: readonly string[];
}

/** A page as a search found it. */
export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** As the provider tells it. */
  readonly published: string | null;
}

export interface SearchRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How one vendor's search is asked and read. */
export interface SearchProvider {
  request(baseUrl: string, apiKey: string | null, question: SearchQuestion): SearchRequest;
  /** The items of its answer. */
  itemsOf(answer: Record<string, unknown>): unknown;
  page(item: Record<string, unknown>): { readonly [Member in keyof FoundPage]: unknown };
}

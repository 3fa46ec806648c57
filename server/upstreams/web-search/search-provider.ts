/** A search query for a provider. */
export interface SearchQuestion {
  readonly query: string;
  readonly maxResults: number;
  readonly freshness: "day" | "week" | "month" | "year" | null;
  readonly safeSearch: "off" | "moderate" | "strict";
  readonly country: string | null;
  readonly language: string | null;
  /** For providers that filter themselves. */
  readonly domains: readonly string[];
  readonly excluded: readonly string[];
}

/** A page in search results. */
export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** In the provider's format. */
  readonly published: string | null;
}

export interface SearchRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Writes a vendor's search requests and reads its answers. */
export interface SearchProvider {
  request(baseUrl: string, apiKey: string | null, question: SearchQuestion): SearchRequest;
  /** The result items of an answer. */
  itemsOf(answer: Record<string, unknown>): unknown;
  page(item: Record<string, unknown>): { readonly [Member in keyof FoundPage]: unknown };
}

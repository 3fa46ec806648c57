/** The facts about a provider format that decide which records may use it and where the catalog lists its models. */
interface ProviderFormat {
  /** The default address for records without one. "required": a record must have one; "none": it must not. */
  readonly baseUrl: "required" | "none" | `https://${string}`;
  /** Whether the address may have a query. */
  readonly addressQuery: boolean;
  /** Whether api_key may be the key file of a Google service account. */
  readonly keyFile: boolean;
  /**
   * Where to find a record's models in the catalog if neither its key nor its address says so: under a provider key of the catalog, under
   * the maker that the model's name implies, or nowhere.
   */
  readonly catalog: { readonly provider: string } | "maker" | "none";
  /** Whether one-hour cache writes at the vendor have their own price. */
  readonly hourlyCacheWrites: boolean;
  /** The highest published price factor of each service tier. Tiers not listed have standard prices. */
  readonly serviceTierFactors: Readonly<Record<string, number>>;
  /** Whether its models use OpenAI's tokenizer; others may produce more tokens for the same text. */
  readonly countsAsOpenAi: boolean;
  /** Whether it has a batch API of its own that the gateway can submit lines to. */
  readonly batches: boolean;
  /**
   * The tenant's own bucket, if a record may name one: its URI scheme, and whether the vendor needs a role to access it. Null if the format
   * uses no bucket.
   */
  readonly storage: { readonly scheme: "s3" | "gs"; readonly role: boolean } | null;
}

const PLAIN = {
  baseUrl: "required",
  addressQuery: false,
  keyFile: false,
  hourlyCacheWrites: false,
  serviceTierFactors: {},
  countsAsOpenAi: false,
  batches: false,
  storage: null,
} as const;

/** OpenAI's price factors for priority range from 1.7 (GPT-4o) to 2.5 (GPT-5.5). */
const OF_OPENAI = { priority: 2.5, ultrafast: 6 } as const;

/** All provider formats. Each has a driver in the gateway's drivers. */
export const PROVIDER_FORMATS = {
  openai: {
    ...PLAIN,
    baseUrl: "https://api.openai.com/v1",
    catalog: "maker",
    serviceTierFactors: OF_OPENAI,
    countsAsOpenAi: true,
    batches: true,
  },
  anthropic: {
    ...PLAIN,
    catalog: { provider: "anthropic" },
    hourlyCacheWrites: true,
    serviceTierFactors: { fast: 2, inference_geo_us: 1.1 },
    batches: true,
  },
  gemini: { ...PLAIN, catalog: { provider: "gemini" }, serviceTierFactors: { priority: 2 }, batches: true },
  azure_openai: { ...PLAIN, addressQuery: true, catalog: { provider: "azure" }, serviceTierFactors: OF_OPENAI, countsAsOpenAi: true },
  azure_speech: { ...PLAIN, catalog: "none" },
  bedrock: {
    ...PLAIN,
    catalog: { provider: "bedrock" },
    serviceTierFactors: { priority: 1.75 },
    batches: true,
    storage: { scheme: "s3", role: true },
  },
  vertex: {
    ...PLAIN,
    keyFile: true,
    catalog: { provider: "vertex" },
    serviceTierFactors: { priority: 2, fast: 2 },
    batches: true,
    storage: { scheme: "gs", role: false },
  },
  echo: { ...PLAIN, baseUrl: "none", catalog: "none" },
} as const satisfies Readonly<Record<string, ProviderFormat>>;

export type ApiFormat = keyof typeof PROVIDER_FORMATS;

/** Undefined for a name written by another version of the gateway. */
export function providerFormat(name: string): ProviderFormat | undefined {
  return Object.hasOwn(PROVIDER_FORMATS, name) ? PROVIDER_FORMATS[name as ApiFormat] : undefined;
}

/** The names of the formats for which `holds` is true, for a message. */
export function formatsWith(holds: (format: ProviderFormat) => boolean): string {
  return Object.entries(PROVIDER_FORMATS)
    .filter(([, format]) => holds(format))
    .map(([name]) => name)
    .join(" and ");
}

/** What of a provider format says which records may name it, and where the catalog lists its models. */
interface ProviderFormat {
  /** Where a record stands that names no address; "required": it must name one; "none": there is none to name. */
  readonly baseUrl: "required" | "none" | `https://${string}`;
  /** Whether an address may carry a query. */
  readonly addressQuery: boolean;
  /** Whether an api_key may be the key file of a service account. */
  readonly keyFile: boolean;
  /**
   * Whose models in the catalog it serves where neither key nor address of a record say so: a provider_key of the catalog,
   * the maker that a model's name tells, or nobody's.
   */
  readonly catalog: { readonly provider: string } | "maker" | "none";
  /** Whether writes to the vendor's cache that are kept for an hour have a price of their own. */
  readonly hourlyCacheWrites: boolean;
  /**
   * By how much tokens are dearer at most in what its vendors call service tiers, as they publish it. A tier that is not here has the
   * usual prices.
   */
  readonly serviceTierFactors: Readonly<Record<string, number>>;
  /** Whether its models make of a text the tokens that those of OpenAI do; others may make more of it. */
  readonly countsAsOpenAi: boolean;
  /** Whether it runs batches of its own that the gateway can hand lines to. */
  readonly batches: boolean;
  /**
   * The bucket of the tenant's own that it works with where a record names one: the scheme of its address, and whether the vendor
   * has to be given a role to use it. Null where there is none.
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

/** OpenAI asks from 1.7 times (GPT-4o) to 2.5 times (GPT-5.5) for priority. */
const OF_OPENAI = { priority: 2.5, ultrafast: 6 } as const;

/** The provider formats. Each has its way out in the gateway's drivers. */
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

/** Undefined for a name that a record of another version of the gateway has. */
export function providerFormat(name: string): ProviderFormat | undefined {
  return Object.hasOwn(PROVIDER_FORMATS, name) ? PROVIDER_FORMATS[name as ApiFormat] : undefined;
}

/** The formats of which that holds, for a message. */
export function formatsWith(holds: (format: ProviderFormat) => boolean): string {
  return Object.entries(PROVIDER_FORMATS)
    .filter(([, format]) => holds(format))
    .map(([name]) => name)
    .join(" and ");
}

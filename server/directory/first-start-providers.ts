/**
 * The providers a first start sets up, each when its usual variable is set. Names and prices are those the vendors
 * published in November 2026; a price that is left out is unpriced, which is not free. Where a vendor asks more for long
 * prompts, it is the price of short ones.
 */

export interface KnownModel {
  readonly name: string;
  readonly context_window?: number;
  readonly supports_vision?: true;
  /** US dollars per million tokens: input, output, cache read, cache write. */
  readonly prices?: readonly [input: number, output: number, cacheRead?: number, cacheWrite?: number];
}

export interface KnownProvider {
  readonly provider_key: string;
  readonly name: string;
  /** Holds its key, unless `isHost`. */
  readonly variable: string;
  readonly base_url: string;
  /** Another variable that moves the address. */
  readonly baseUrlVariable?: string;
  /** The variable holds the host of a server without a key. */
  readonly isHost?: true;
  readonly models: readonly KnownModel[];
}

export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  {
    provider_key: "openai",
    name: "OpenAI",
    variable: "OPENAI_API_KEY",
    base_url: "https://api.openai.com/v1",
    baseUrlVariable: "OPENAI_BASE_URL",
    models: [
      { name: "gpt-6-sol", context_window: 1_050_000, supports_vision: true, prices: [2, 10, 0.2, 2.5] },
      { name: "gpt-5.4-mini", context_window: 400_000, supports_vision: true, prices: [0.75, 4.5, 0.075] },
    ],
  },
  {
    provider_key: "anthropic",
    name: "Anthropic",
    variable: "ANTHROPIC_API_KEY",
    base_url: "https://api.anthropic.com/v1",
    models: [
      { name: "claude-sonnet-5", context_window: 1_000_000, supports_vision: true, prices: [2, 10, 0.2, 2.5] },
      { name: "claude-haiku-4-5", context_window: 200_000, supports_vision: true, prices: [1, 5, 0.1, 1.25] },
    ],
  },
  {
    provider_key: "gemini",
    name: "Google Gemini",
    variable: "GEMINI_API_KEY",
    base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
    models: [{ name: "gemini-3.5-flash", context_window: 1_000_000, supports_vision: true, prices: [1.5, 9, 0.15] }],
  },
  {
    provider_key: "mistral",
    name: "Mistral",
    variable: "MISTRAL_API_KEY",
    base_url: "https://api.mistral.ai/v1",
    models: [
      { name: "mistral-large-2512", context_window: 262_144, prices: [0.5, 1.5, 0.05] },
      { name: "mistral-small-latest", prices: [0.1, 0.3] },
    ],
  },
  {
    provider_key: "groq",
    name: "Groq",
    variable: "GROQ_API_KEY",
    base_url: "https://api.groq.com/openai/v1",
    models: [
      { name: "openai/gpt-oss-120b", context_window: 131_072, prices: [0.15, 0.6, 0.075] },
      { name: "llama-3.3-70b-versatile", context_window: 131_072, prices: [0.59, 0.79] },
    ],
  },
  {
    provider_key: "deepseek",
    name: "DeepSeek",
    variable: "DEEPSEEK_API_KEY",
    base_url: "https://api.deepseek.com/v1",
    // The vendor's prices follow the hour of the day, which a price here cannot.
    models: [{ name: "deepseek-v4-flash", context_window: 1_000_000 }, { name: "deepseek-v4-pro", context_window: 1_000_000 }],
  },
  {
    provider_key: "openrouter",
    name: "OpenRouter",
    variable: "OPENROUTER_API_KEY",
    base_url: "https://openrouter.ai/api/v1",
    models: [{ name: "openrouter/auto" }],
  },
  {
    provider_key: "xai",
    name: "xAI",
    variable: "XAI_API_KEY",
    base_url: "https://api.x.ai/v1",
    models: [{ name: "grok-4.6", context_window: 500_000, supports_vision: true, prices: [2, 6, 0.5] }],
  },
  {
    provider_key: "ollama",
    name: "Ollama",
    variable: "OLLAMA_HOST",
    base_url: "http://127.0.0.1:11434/v1",
    isHost: true,
    models: [{ name: "llama3.2" }],
  },
];

const OLLAMA_PORT = "11434";

/** The address a host variable means: `host`, `host:port` or a whole address, as its own client reads it. */
export function hostAddress(value: string): string {
  const bare = !/^https?:\/\//i.test(value);
  const url = new URL(bare ? `http://${value}` : value);
  if (bare && url.port === "") url.port = OLLAMA_PORT;
  // A server told to listen everywhere is reached on this machine.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

/**
 * The providers that a first start sets up, each if its usual environment variable is set. Their address and format, and
 * the prices and abilities of their models, come from the catalog.
 */
export interface KnownProvider {
  /** The key in the provider catalog. */
  readonly provider_key: string;
  /** The variable that holds the API key, or the host if `isHost`. */
  readonly variable: string;
  /** A variable that overrides the address. */
  readonly baseUrlVariable?: string;
  /** The variable holds the host of a server that needs no key. */
  readonly isHost?: true;
  /** Model names as published by the vendor. */
  readonly models: readonly string[];
}

export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  { provider_key: "openai", variable: "OPENAI_API_KEY", baseUrlVariable: "OPENAI_BASE_URL", models: ["gpt-6-sol", "gpt-5.4-mini"] },
  { provider_key: "anthropic", variable: "ANTHROPIC_API_KEY", models: ["claude-sonnet-5", "claude-haiku-4-5"] },
  { provider_key: "gemini", variable: "GEMINI_API_KEY", models: ["gemini-3.5-flash"] },
  { provider_key: "mistral", variable: "MISTRAL_API_KEY", models: ["mistral-large-2512", "mistral-small-latest"] },
  { provider_key: "groq", variable: "GROQ_API_KEY", models: ["openai/gpt-oss-120b", "llama-3.3-70b-versatile"] },
  { provider_key: "deepseek", variable: "DEEPSEEK_API_KEY", models: ["deepseek-v4-flash", "deepseek-v4-pro"] },
  { provider_key: "openrouter", variable: "OPENROUTER_API_KEY", models: ["openrouter/auto"] },
  { provider_key: "xai", variable: "XAI_API_KEY", models: ["grok-4.6"] },
  { provider_key: "ollama", variable: "OLLAMA_HOST", isHost: true, models: ["llama3.2"] },
];

const OLLAMA_PORT = "11434";

/** The base URL for a host variable: `host`, `host:port` or a full URL, interpreted as the provider's own client does. */
export function hostAddress(value: string): string {
  const bare = !/^https?:\/\//i.test(value);
  const url = new URL(bare ? `http://${value}` : value);
  if (bare && url.port === "") url.port = OLLAMA_PORT;
  // A server that listens on all interfaces is reached on this machine.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

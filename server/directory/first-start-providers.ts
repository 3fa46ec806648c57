/**
 * The providers a first start sets up, each when its usual variable is set. What they are (address, format) and what
 * their models cost and can do is the catalog's to say.
 */
export interface KnownProvider {
  /** In the catalog of providers. */
  readonly provider_key: string;
  /** Holds its key, unless `isHost`. */
  readonly variable: string;
  /** Another variable that moves the address. */
  readonly baseUrlVariable?: string;
  /** The variable holds the host of a server without a key. */
  readonly isHost?: true;
  /** Names the vendor publishes. */
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

/** The address a host variable means: `host`, `host:port` or a whole address, as its own client reads it. */
export function hostAddress(value: string): string {
  const bare = !/^https?:\/\//i.test(value);
  const url = new URL(bare ? `http://${value}` : value);
  if (bare && url.port === "") url.port = OLLAMA_PORT;
  // A server told to listen everywhere is reached on this machine.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

import type { ProviderRecord } from "@gatehouse/contracts/providers";

/** A vendor whose provider record can be created with only a key. */
export interface CatalogProvider {
  readonly provider_key: string;
  readonly name: string;
  readonly api_format: ProviderRecord["api_format"];
  /** Null if the address is specific to the customer; an admin must then create the record. */
  readonly base_url: string | null;
  /** Where it processes data, if the address determines that. */
  readonly region?: string;
  /** Its name in the price catalog; null if that does not list it. */
  readonly vendor: string | null;
  /** Which of the vendor's models it serves; all if omitted. */
  readonly serves?: RegExp;
}

/** Addresses as published by the vendors in November 2026. */
export const CATALOG_PROVIDERS: readonly CatalogProvider[] = [
  { provider_key: "openai", name: "OpenAI", api_format: "openai", base_url: "https://api.openai.com/v1", vendor: "openai" },
  { provider_key: "anthropic", name: "Anthropic", api_format: "anthropic", base_url: "https://api.anthropic.com/v1", vendor: "anthropic" },
  {
    provider_key: "gemini",
    name: "Google Gemini",
    api_format: "gemini",
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    vendor: "google",
    serves: /^gem/,
  },
  { provider_key: "azure", name: "Azure OpenAI", api_format: "azure_openai", base_url: null, vendor: "azure" },
  { provider_key: "azure-speech", name: "Azure Speech", api_format: "azure_speech", base_url: null, vendor: null },
  {
    provider_key: "bedrock",
    name: "Amazon Bedrock",
    api_format: "bedrock",
    base_url: "https://bedrock-runtime.us-east-1.amazonaws.com",
    region: "us-east-1",
    vendor: "aws",
  },
  { provider_key: "vertex", name: "Google Vertex AI", api_format: "vertex", base_url: null, vendor: "google" },
  { provider_key: "groq", name: "Groq", api_format: "openai", base_url: "https://api.groq.com/openai/v1", vendor: "groq" },
  { provider_key: "mistral", name: "Mistral", api_format: "openai", base_url: "https://api.mistral.ai/v1", vendor: "mistral" },
  { provider_key: "deepseek", name: "DeepSeek", api_format: "openai", base_url: "https://api.deepseek.com/v1", vendor: "deepseek" },
  { provider_key: "xai", name: "xAI", api_format: "openai", base_url: "https://api.x.ai/v1", vendor: "x-ai" },
  { provider_key: "openrouter", name: "OpenRouter", api_format: "openai", base_url: "https://openrouter.ai/api/v1", vendor: "openrouter" },
  { provider_key: "together", name: "Together AI", api_format: "openai", base_url: "https://api.together.xyz/v1", vendor: "together" },
  {
    provider_key: "fireworks",
    name: "Fireworks",
    api_format: "openai",
    base_url: "https://api.fireworks.ai/inference/v1",
    vendor: "fireworks",
  },
  { provider_key: "cohere", name: "Cohere", api_format: "openai", base_url: "https://api.cohere.ai/compatibility/v1", vendor: "cohere" },
  { provider_key: "perplexity", name: "Perplexity", api_format: "openai", base_url: "https://api.perplexity.ai", vendor: "perplexity" },
  { provider_key: "cerebras", name: "Cerebras", api_format: "openai", base_url: "https://api.cerebras.ai/v1", vendor: "cerebras" },
  { provider_key: "moonshot", name: "Moonshot AI", api_format: "openai", base_url: "https://api.moonshot.ai/v1", vendor: "moonshotai" },
  { provider_key: "voyage", name: "Voyage AI", api_format: "openai", base_url: "https://api.voyageai.com/v1", vendor: "voyageai" },
  { provider_key: "ollama", name: "Ollama", api_format: "openai", base_url: "http://127.0.0.1:11434/v1", vendor: null },
];

/** By its key, or by the vendor's name in the price catalog ("google", "aws", "x-ai"). */
export function catalogProvider(providerKey: string): CatalogProvider | undefined {
  return (
    CATALOG_PROVIDERS.find((provider) => provider.provider_key === providerKey) ??
    CATALOG_PROVIDERS.find((provider) => provider.vendor === providerKey)
  );
}

/** How a provider that LiteLLM names by a prefix is reached here. */
export interface ProviderByPrefix {
  readonly format: "openai" | "anthropic" | "gemini" | "vertex" | "bedrock" | "azure_openai";
  /** Null: the entry must say it. */
  readonly baseUrl: string | null;
  /** The variable LiteLLM reads where an entry has no key; null where there is none. */
  readonly keyVariable: string | null;
}

const compatible = (keyVariable: string | null, baseUrl: string | null): ProviderByPrefix => ({ format: "openai", baseUrl, keyVariable });

export const LITELLM_PROVIDERS: Readonly<Record<string, ProviderByPrefix>> = {
  openai: compatible("OPENAI_API_KEY", "https://api.openai.com/v1"),
  "text-completion-openai": compatible("OPENAI_API_KEY", "https://api.openai.com/v1"),
  anthropic: { format: "anthropic", baseUrl: "https://api.anthropic.com", keyVariable: "ANTHROPIC_API_KEY" },
  gemini: { format: "gemini", baseUrl: "https://generativelanguage.googleapis.com", keyVariable: "GEMINI_API_KEY" },
  vertex_ai: { format: "vertex", baseUrl: null, keyVariable: null },
  vertex_ai_beta: { format: "vertex", baseUrl: null, keyVariable: null },
  bedrock: { format: "bedrock", baseUrl: null, keyVariable: null },
  azure: { format: "azure_openai", baseUrl: null, keyVariable: "AZURE_API_KEY" },
  azure_text: { format: "azure_openai", baseUrl: null, keyVariable: "AZURE_API_KEY" },
  azure_ai: compatible("AZURE_AI_API_KEY", null),
  groq: compatible("GROQ_API_KEY", "https://api.groq.com/openai/v1"),
  mistral: compatible("MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
  codestral: compatible("CODESTRAL_API_KEY", "https://codestral.mistral.ai/v1"),
  deepseek: compatible("DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
  xai: compatible("XAI_API_KEY", "https://api.x.ai/v1"),
  together_ai: compatible("TOGETHERAI_API_KEY", "https://api.together.xyz/v1"),
  fireworks_ai: compatible("FIREWORKS_AI_API_KEY", "https://api.fireworks.ai/inference/v1"),
  openrouter: compatible("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
  perplexity: compatible("PERPLEXITYAI_API_KEY", "https://api.perplexity.ai"),
  cerebras: compatible("CEREBRAS_API_KEY", "https://api.cerebras.ai/v1"),
  nvidia_nim: compatible("NVIDIA_NIM_API_KEY", "https://integrate.api.nvidia.com/v1"),
  deepinfra: compatible("DEEPINFRA_API_KEY", "https://api.deepinfra.com/v1/openai"),
  sambanova: compatible("SAMBANOVA_API_KEY", "https://api.sambanova.ai/v1"),
  moonshot: compatible("MOONSHOT_API_KEY", "https://api.moonshot.ai/v1"),
  cohere_chat: compatible("COHERE_API_KEY", "https://api.cohere.ai/compatibility/v1"),
  cohere: compatible("COHERE_API_KEY", "https://api.cohere.ai/compatibility/v1"),
  jina_ai: compatible("JINA_AI_API_KEY", "https://api.jina.ai/v1"),
  voyage: compatible("VOYAGE_API_KEY", "https://api.voyageai.com/v1"),
  databricks: compatible("DATABRICKS_API_KEY", null),
  hosted_vllm: compatible(null, null),
  vllm: compatible(null, null),
  infinity: compatible(null, null),
  lm_studio: compatible(null, null),
  litellm_proxy: compatible("LITELLM_PROXY_API_KEY", null),
  openai_like: compatible(null, null),
  custom_openai: compatible(null, null),
  ollama: compatible(null, "http://localhost:11434/v1"),
  ollama_chat: compatible(null, "http://localhost:11434/v1"),
};

/** Of a model that is named without a prefix. */
export function providerOfPlainName(model: string): string {
  if (model.startsWith("claude-")) return "anthropic";
  if (model.startsWith("gemini-")) return "gemini";
  return "openai";
}

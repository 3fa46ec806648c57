/** How to reach a provider that LiteLLM names by a prefix. */
export interface ProviderByPrefix {
  readonly format: "openai" | "anthropic" | "gemini" | "vertex" | "bedrock" | "azure_openai";
  /** Null if the entry must state it. */
  readonly baseUrl: string | null;
  /** The variable LiteLLM reads if an entry has no key; null if there is none. */
  readonly keyVariable: string | null;
  /** The variables LiteLLM reads if an entry has no address, in order; by default the one named after the prefix. */
  readonly addressVariables?: readonly string[];
}

const compatible = (keyVariable: string | null, baseUrl: string | null, ...addressVariables: readonly string[]): ProviderByPrefix => ({
  ...{ format: "openai", baseUrl, keyVariable },
  ...(addressVariables.length === 0 ? {} : { addressVariables }),
});
const OPENAI = compatible("OPENAI_API_KEY", "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_BASE");
const ANTHROPIC_ADDRESS = ["ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"];
const OLLAMA = compatible(null, "http://localhost:11434/v1", "OLLAMA_API_BASE");
const COHERE = compatible("COHERE_API_KEY", "https://api.cohere.ai/compatibility/v1", "COHERE_API_BASE");

export const LITELLM_PROVIDERS: Readonly<Record<string, ProviderByPrefix>> = {
  openai: OPENAI,
  "text-completion-openai": OPENAI,
  anthropic: {
    format: "anthropic",
    baseUrl: "https://api.anthropic.com",
    keyVariable: "ANTHROPIC_API_KEY",
    addressVariables: ANTHROPIC_ADDRESS,
  },
  gemini: { format: "gemini", baseUrl: "https://generativelanguage.googleapis.com", keyVariable: "GEMINI_API_KEY" },
  vertex_ai: { format: "vertex", baseUrl: null, keyVariable: null, addressVariables: ["VERTEXAI_API_BASE"] },
  vertex_ai_beta: { format: "vertex", baseUrl: null, keyVariable: null, addressVariables: ["VERTEXAI_API_BASE"] },
  bedrock: { format: "bedrock", baseUrl: null, keyVariable: null, addressVariables: ["AWS_BEDROCK_RUNTIME_ENDPOINT"] },
  azure: { format: "azure_openai", baseUrl: null, keyVariable: "AZURE_API_KEY" },
  azure_text: { format: "azure_openai", baseUrl: null, keyVariable: "AZURE_API_KEY", addressVariables: ["AZURE_API_BASE"] },
  azure_ai: compatible("AZURE_AI_API_KEY", null),
  groq: compatible("GROQ_API_KEY", "https://api.groq.com/openai/v1"),
  mistral: compatible("MISTRAL_API_KEY", "https://api.mistral.ai/v1", "MISTRAL_AZURE_API_BASE", "MISTRAL_API_BASE"),
  codestral: compatible("CODESTRAL_API_KEY", "https://codestral.mistral.ai/v1"),
  deepseek: compatible("DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
  xai: compatible("XAI_API_KEY", "https://api.x.ai/v1"),
  together_ai: compatible("TOGETHERAI_API_KEY", "https://api.together.xyz/v1"),
  fireworks_ai: compatible("FIREWORKS_AI_API_KEY", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_BASE"),
  openrouter: compatible("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
  perplexity: compatible("PERPLEXITYAI_API_KEY", "https://api.perplexity.ai"),
  cerebras: compatible("CEREBRAS_API_KEY", "https://api.cerebras.ai/v1"),
  nvidia_nim: compatible("NVIDIA_NIM_API_KEY", "https://integrate.api.nvidia.com/v1"),
  deepinfra: compatible("DEEPINFRA_API_KEY", "https://api.deepinfra.com/v1/openai"),
  sambanova: compatible("SAMBANOVA_API_KEY", "https://api.sambanova.ai/v1"),
  moonshot: compatible("MOONSHOT_API_KEY", "https://api.moonshot.ai/v1"),
  ai21_chat: compatible("AI21_API_KEY", "https://api.ai21.com/studio/v1", "AI21_API_BASE"),
  // Its default is one of two places, depending on LiteLLM's version, and keys are valid at only one of them.
  dashscope: compatible("DASHSCOPE_API_KEY", null),
  friendliai: compatible("FRIENDLIAI_API_KEY", "https://api.friendli.ai/serverless/v1", "FRIENDLI_API_BASE"),
  github: compatible("GITHUB_API_KEY", null),
  hyperbolic: compatible("HYPERBOLIC_API_KEY", "https://api.hyperbolic.xyz/v1"),
  meta_llama: compatible("LLAMA_API_KEY", "https://api.llama.com/compat/v1", "LLAMA_API_BASE"),
  nebius: compatible("NEBIUS_API_KEY", "https://api.studio.nebius.ai/v1"),
  nscale: compatible("NSCALE_API_KEY", "https://inference.api.nscale.com/v1"),
  volcengine: compatible("VOLCENGINE_API_KEY", "https://ark.cn-beijing.volces.com/api/v3"),
  cohere_chat: COHERE,
  cohere: COHERE,
  jina_ai: compatible("JINA_AI_API_KEY", "https://api.jina.ai/v1"),
  voyage: compatible("VOYAGE_API_KEY", "https://api.voyageai.com/v1"),
  databricks: compatible("DATABRICKS_API_KEY", null),
  hosted_vllm: compatible(null, null),
  vllm: compatible(null, null),
  infinity: compatible(null, null),
  lm_studio: compatible(null, null),
  llamafile: compatible(null, null),
  litellm_proxy: compatible("LITELLM_PROXY_API_KEY", null),
  openai_like: compatible(null, null),
  custom_openai: compatible(null, null),
  ollama: OLLAMA,
  ollama_chat: OLLAMA,
};

export function addressVariablesOf(prefix: string, { addressVariables }: ProviderByPrefix): readonly string[] {
  return addressVariables ?? [`${prefix.toUpperCase()}_API_BASE`];
}

/** The provider of a model named without a prefix. */
export function providerOfPlainName(model: string): string {
  if (model.startsWith("claude-")) return "anthropic";
  if (model.startsWith("gemini-")) return "gemini";
  return "openai";
}

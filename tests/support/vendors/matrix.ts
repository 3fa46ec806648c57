import type { ApiFormat } from "@gatehouse/contracts/provider-formats";

/**
 * What is tested of each official client with each provider format, as data: the table test runs every cell, and the generated
 * documentation lists the same cells.
 */
export const FEATURES = ["text", "tools", "structured", "picture"] as const;
export type Feature = (typeof FEATURES)[number];

export const SURFACES = ["chat", "responses", "completions", "messages", "gemini"] as const;
export type SurfaceName = (typeof SURFACES)[number];

interface ClientColumn {
  readonly id: string;
  /** What a user installs, and the surface it calls. */
  readonly packages: readonly string[];
  readonly surface: SurfaceName;
}

export const CLIENTS = [
  { id: "openai chat", packages: ["openai"], surface: "chat" },
  { id: "openai responses", packages: ["openai"], surface: "responses" },
  { id: "openai completions", packages: ["openai"], surface: "completions" },
  { id: "anthropic 1", packages: ["@anthropic-ai/sdk"], surface: "messages" },
  { id: "anthropic 0", packages: ["@anthropic-ai/sdk@0"], surface: "messages" },
  { id: "google genai", packages: ["@google/genai"], surface: "gemini" },
  { id: "ai openai chat", packages: ["ai", "@ai-sdk/openai"], surface: "chat" },
  { id: "ai openai responses", packages: ["ai", "@ai-sdk/openai"], surface: "responses" },
  { id: "ai anthropic", packages: ["ai", "@ai-sdk/anthropic"], surface: "messages" },
  { id: "ai google", packages: ["ai", "@ai-sdk/google"], surface: "gemini" },
  { id: "langchain", packages: ["langchain", "@langchain/openai"], surface: "chat" },
] as const satisfies readonly ClientColumn[];
export type ClientId = (typeof CLIENTS)[number]["id"];

interface ProviderRow {
  /** Also the name by which callers refer to its model. */
  readonly id: string;
  /** Its name in the table of surfaces and providers. */
  readonly about: string;
  readonly apiFormat: ApiFormat;
  readonly modelName: string;
  /** Set if embeddings need a model with a particular name. */
  readonly embeddingModelName?: string;
  readonly modes: readonly string[];
  readonly features: readonly Feature[];
}

export const PROVIDERS = [
  {
    id: "openai",
    about: "`openai`, modes chat and completion",
    apiFormat: "openai",
    modelName: "gpt-fake",
    modes: ["chat", "completion"],
    features: FEATURES,
  },
  {
    id: "openai-responses",
    about: "`openai`, mode responses",
    apiFormat: "openai",
    modelName: "gpt-fake-responses",
    modes: ["responses"],
    features: FEATURES,
  },
  {
    id: "azure",
    about: "`azure_openai`, mode chat",
    apiFormat: "azure_openai",
    modelName: "deployment",
    modes: ["chat"],
    features: FEATURES,
  },
  { id: "anthropic", about: "`anthropic`", apiFormat: "anthropic", modelName: "claude-sonnet-4-5", modes: ["chat"], features: FEATURES },
  { id: "gemini", about: "`gemini`", apiFormat: "gemini", modelName: "gemini-3-fake", modes: ["chat"], features: FEATURES },
  {
    id: "bedrock",
    about: "`bedrock`",
    apiFormat: "bedrock",
    modelName: "anthropic.claude-sonnet-4-5-v1:0",
    embeddingModelName: "amazon.titan-embed-text-v2:0",
    modes: ["chat"],
    features: FEATURES,
  },
  {
    id: "vertex-gemini",
    about: "`vertex`, Gemini models",
    apiFormat: "vertex",
    modelName: "gemini-3-fake",
    modes: ["chat"],
    features: FEATURES,
  },
  {
    id: "vertex-claude",
    about: "`vertex`, Claude models",
    apiFormat: "vertex",
    modelName: "claude-sonnet-4-5",
    modes: ["chat"],
    features: FEATURES,
  },
  // It echoes its input, so it neither calls tools nor follows a schema.
  { id: "echo", about: "`echo`", apiFormat: "echo", modelName: "echo", modes: ["chat"], features: ["text"] },
] as const satisfies readonly ProviderRow[];
export type ProviderId = (typeof PROVIDERS)[number]["id"];

/**
 * Providers with reasoning, and where a client of each surface sees it; a separate test runs these, with the one client that requests it.
 */
export const REASONING = {
  providers: ["openai-responses", "anthropic", "gemini", "bedrock", "vertex-gemini", "vertex-claude"] satisfies readonly ProviderId[],
  surfaces: ["responses", "messages", "gemini"] satisfies readonly SurfaceName[],
};

export interface Cell {
  readonly client: ClientId;
  readonly provider: ProviderId;
  readonly feature: Feature;
  readonly stream: boolean;
}

/** Legacy completions support only text. */
function expressible(surface: SurfaceName, feature: Feature): boolean {
  return surface !== "completions" || feature === "text";
}

export const CELLS: readonly Cell[] = CLIENTS.flatMap((client) =>
  PROVIDERS.flatMap((provider) =>
    (provider.features as readonly Feature[])
      .filter((feature) => expressible(client.surface, feature))
      .flatMap((feature) => [false, true].map((stream) => ({ client: client.id, provider: provider.id, feature, stream }))),
  ),
);

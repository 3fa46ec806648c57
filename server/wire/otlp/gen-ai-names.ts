import { ownEntry } from "../../kernel/collections/own-entry.ts";
import { type Attributes, textAttribute } from "./attributes.ts";

/** Operation names that predate the conventions: Traceloop's, OpenInference's span kinds, and the AI SDK's. */
export const OLD_OPERATIONS: Readonly<Record<string, string>> = {
  chat: "chat",
  completion: "text_completion",
  embedding: "embeddings",
  LLM: "chat",
  EMBEDDING: "embeddings",
  TOOL: "execute_tool",
  AGENT: "invoke_agent",
  CHAIN: "invoke_workflow",
  RETRIEVER: "retrieval",
  "ai.toolCall": "execute_tool",
};

const PROVIDERS: Readonly<Record<string, string>> = { xai: "x_ai", gemini: "gcp.gemini", vertex_ai: "gcp.vertex_ai" };

export function genAiProviderOf(attributes: Attributes): string | null {
  const current = textAttribute(attributes, "gen_ai.provider.name");
  if (current !== null) return current;
  const old = textAttribute(attributes, "gen_ai.system", "llm.provider", "llm.system");
  if (old === null) return textAttribute(attributes, "server.address");
  return ownEntry(PROVIDERS, old) ?? old.replace(/^az\.ai\./, "azure.ai.");
}

/** The conventions' vendor names by the gateway's catalog keys; other vendors keep their keys. */
const CATALOG_KEYS: ReadonlyMap<string, string> = new Map([
  ["azure", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["gemini", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["moonshot", "moonshot_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);

export const providerName = (key: string | null | undefined): string | null | undefined => CATALOG_KEYS.get(key ?? "") ?? key;

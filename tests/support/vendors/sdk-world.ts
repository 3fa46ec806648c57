import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { GoogleGenAI } from "@google/genai";
import AnthropicZero from "anthropic-sdk-0";
import OpenAI from "openai";
import { startWorld, type World } from "../world.ts";
import { type ClientId, PROVIDERS } from "./matrix.ts";
import { aiSdk } from "./sdk-ai.ts";
import { anthropicOne, anthropicZero } from "./sdk-anthropic.ts";
import { googleGenai } from "./sdk-google.ts";
import { langchain } from "./sdk-langchain.ts";
import { openaiChat, openaiCompletions, openaiResponses } from "./sdk-openai.ts";
import type { Sdk } from "./sdk.ts";
import { startVendors, VENDOR_KEY } from "./vendors.ts";

export const FAULTS = [400, 429, 500, 503, 529] as const;

/** The vendors' own clients, for features only one of them supports. */
export interface Clients {
  readonly openai: OpenAI;
  readonly anthropicOne: Anthropic;
  readonly anthropicZero: AnthropicZero;
  readonly google: GoogleGenAI;
  readonly sdks: Readonly<Record<ClientId, Sdk>>;
}

export interface SdkWorld extends World {
  /** A key of the group that is granted every model. */
  readonly apiKey: string;
  readonly groupId: string;
  readonly clients: Clients;
  clientsOf(apiKey: string): Clients;
}

/**
 * A gateway in front of every vendor: a model named after each provider, with the suffix `-400` and so on for failing ones and `-embed` for
 * embeddings.
 */
export async function startSdkWorld(): Promise<SdkWorld> {
  const vendors = startVendors();
  const world = await startWorld();
  const tenant = { tenant_id: "default" };
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "team", group_type: "team" });
  const existing = new Set(
    (await admin.get("/v1/admin/providers?tenant_id=default")).providers.map(({ provider_key }: { provider_key: string }) => provider_key),
  );
  for (const { id, apiFormat, modelName, modes, ...about } of PROVIDERS) {
    const base_url = vendors.baseUrl(apiFormat);
    const provider = base_url === null ? apiFormat : `fake-${id}`;
    if (!existing.has(provider))
      await admin.post("/v1/admin/providers", {
        ...tenant,
        provider_key: provider,
        name: provider,
        api_format: apiFormat,
        ...(base_url === null ? {} : { base_url, api_key: VENDOR_KEY }),
      });
    const model = (name: string, given: Record<string, unknown>) =>
      admin.post("/v1/admin/llms", { ...tenant, name, provider, enabled: true, group_ids: [group.id], ...given });
    await model(`sdk-${id}`, { model_name: modelName, modes });
    await model(`sdk-${id}-embed`, {
      model_name: "embeddingModelName" in about ? about.embeddingModelName : `${modelName}-embed`,
      modes: ["embedding"],
    });
    if (base_url !== null) for (const status of FAULTS) await model(`sdk-${id}-${status}`, { model_name: `${modelName}-${status}`, modes });
  }
  const { key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, {
    name: "sdk key",
    access_mode: "shared",
  });
  const clientsOf = (key: string) => clientsAt(world.gateway.runtimeUrl, key);
  return {
    ...world,
    apiKey,
    groupId: group.id,
    clients: clientsOf(apiKey),
    clientsOf,
    async end() {
      await world.end();
      await vendors.stop();
    },
  };
}

function clientsAt(runtimeUrl: string, apiKey: string): Clients {
  const baseURL = `${runtimeUrl}/v1/proxy/llm`;
  const openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  const one = new Anthropic({ baseURL: runtimeUrl, apiKey, maxRetries: 0 });
  const zero = new AnthropicZero({ baseURL: runtimeUrl, apiKey, maxRetries: 0 });
  const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: runtimeUrl } });
  const aiOpenai = createOpenAI({ baseURL, apiKey });
  const aiAnthropic = createAnthropic({ baseURL: `${runtimeUrl}/v1`, apiKey });
  const aiGoogle = createGoogleGenerativeAI({ baseURL: `${runtimeUrl}/v1beta`, apiKey });
  return {
    openai,
    anthropicOne: one,
    anthropicZero: zero,
    google,
    sdks: {
      "openai chat": openaiChat(openai),
      "openai responses": openaiResponses(openai),
      "openai completions": openaiCompletions(openai),
      "anthropic 1": anthropicOne(one),
      "anthropic 0": anthropicZero(zero),
      "google genai": googleGenai(google),
      "ai openai chat": aiSdk((name) => aiOpenai.chat(name)),
      "ai openai responses": aiSdk((name) => aiOpenai.responses(name)),
      "ai anthropic": aiSdk((name) => aiAnthropic(name)),
      "ai google": aiSdk((name) => aiGoogle(name)),
      langchain: langchain(baseURL, apiKey),
    },
  };
}

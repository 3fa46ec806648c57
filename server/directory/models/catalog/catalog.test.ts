import { describe, expect, test } from "bun:test";
import { calcPrice, findProvider } from "@pydantic/genai-prices";
import type { CatalogEntry } from "@gatehouse/contracts/catalog";
import { catalogEntry as entrySchema } from "@gatehouse/contracts/catalog";
import { findCatalogEntry, catalogFacts, listCatalog } from "./catalog.ts";
import { catalogProvider } from "./known-providers.ts";
import { dialectByName, outputLimitByName } from "./model-facts.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const all = await listCatalog({}, { limit: 10_000, offset: 0 }, NOW);

/** A call's cost in dollars by the entry's own prices. */
function costBy(entry: CatalogEntry, input: number, cacheRead: number, cacheWrite: number, output: number): number {
  const tier = entry.price_tiers.findLast((one) => input > one.above_input_tokens) ?? {};
  const price = { ...entry, ...tier };
  const plain = price.input_cost_per_million_tokens ?? 0;
  return (
    ((input - cacheRead - cacheWrite) * plain +
      cacheRead * (price.cache_read_cost_per_million_tokens ?? plain) +
      cacheWrite * (price.cache_write_cost_per_million_tokens ?? plain) +
      output * (price.output_cost_per_million_tokens ?? 0)) /
    1e6
  );
}

describe("the model catalog", () => {
  test("has a valid entry with a unique ID for each model", () => {
    expect(all.total).toBeGreaterThan(1_000);
    expect(all.items.length).toBe(all.total);
    expect(new Set(all.items.map((entry) => entry.id)).size).toBe(all.total);
    for (const entry of all.items) {
      entrySchema.parse(entry);
      expect(entry.id).not.toMatch(/[/?#%\s]/);
    }
  });

  test("prices every call like its source data", () => {
    let compared = 0;
    for (const entry of all.items) {
      if (entry.input_cost_per_million_tokens === null || entry.mode !== "chat" || entry.output_cost_per_million_tokens === null) continue;
      const vendor = findProvider({ providerId: catalogProvider(entry.provider_key)?.vendor ?? "" });
      const source = vendor?.models.find((model) => entry.id === `${entry.provider_key}:${model.id.replaceAll("/", "--")}`);
      if (vendor === undefined || source === undefined) throw new Error(`${entry.id} has no source`);
      for (const input of [1_000, 150_000, 200_000, 200_001, 271_999, 272_000, 900_000]) {
        const [read, write, output] = [Math.floor(input / 4), Math.floor(input / 10), 777];
        // A vendor with a single model, so that its prices are used whatever other names match.
        const alone = { ...vendor, models: [{ ...source, match: { contains: "" } }], fallback_model_providers: [] };
        const theirs = calcPrice({ input_tokens: input, cache_read_tokens: read, cache_write_tokens: write, output_tokens: output }, "it", {
          provider: alone,
          timestamp: NOW,
        });
        if (theirs === null) throw new Error(`${entry.id} is not priced`);
        // Requests and searches are billed separately from tokens.
        const fees = theirs.total_price - theirs.input_price - theirs.output_price;
        expect(Math.abs(costBy(entry, input, read, write, output) - (theirs.total_price - fees)), `${entry.id} at ${input}`).toBeLessThan(
          1e-6 + theirs.total_price * 1e-5,
        );
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(5_000);
  });

  test("contains price tiers, one-hour cache write prices and future price changes", async () => {
    expect(await findCatalogEntry("gemini:gemini-2.5-pro", NOW)).toMatchObject({
      name: "Gemini 2.5 Pro",
      input_cost_per_million_tokens: 1.25,
      price_tiers: [
        {
          above_input_tokens: 200_000,
          input_cost_per_million_tokens: 2.5,
          output_cost_per_million_tokens: 15,
          cache_read_cost_per_million_tokens: 0.25,
        },
      ],
    });
    expect(await findCatalogEntry("anthropic:claude-sonnet-5", NOW)).toMatchObject({
      cache_write_cost_per_million_tokens: 2.5,
      cache_write_hour_cost_per_million_tokens: 4,
      price_tiers: [],
    });
    const flash = await findCatalogEntry("gemini:gemini-3.8-flash", NOW);
    expect(flash.price_changes).toEqual([
      {
        effective_from: "2027-01-01T00:00:00.000Z",
        input_cost_per_million_tokens: 1.5,
        cache_read_cost_per_million_tokens: 0.15,
        output_cost_per_million_tokens: 7.5,
      },
    ]);
    const later = await findCatalogEntry("gemini:gemini-3.8-flash", new Date("2027-01-01T00:00:00Z"));
    expect([later.input_cost_per_million_tokens, later.price_changes]).toEqual([1.5, []]);
  });

  test("has null for prices that cannot be expressed and for unknown capabilities", async () => {
    // One is priced by the time of day, the other per request.
    for (const id of ["deepseek:deepseek-v4-pro", "perplexity:sonar-pro"]) {
      expect(await findCatalogEntry(id, NOW)).toMatchObject({ input_cost_per_million_tokens: null, output_cost_per_million_tokens: null });
    }
    expect(await findCatalogEntry("groq:llama-3.3-70b-versatile", NOW)).toMatchObject({
      supports_vision: null,
      supports_tools: null,
      max_output_tokens: null,
    });
    expect(await findCatalogEntry("openai:gpt-4o", NOW)).toMatchObject({
      supports_vision: true,
      supports_tools: true,
      modes: ["chat", "responses"],
    });
  });

  test("distinguishes the modes of models", async () => {
    const modes = async (id: string) => (await findCatalogEntry(id, NOW)).modes;
    expect(await modes("openai:text-embedding-3-small")).toEqual(["embedding"]);
    expect(await modes("openai:gpt-image-1")).toEqual(["image"]);
    expect(await modes("openai:whisper-1")).toEqual(["audio_transcription"]);
    expect(await modes("openai:gpt-4o-mini-tts")).toEqual(["audio_speech"]);
    expect(await modes("openai:gpt-5-pro")).toEqual(["responses"]);
    expect((await findCatalogEntry("openai:whisper-1", NOW)).audio_input_cost_per_second).toBeCloseTo(0.0001, 9);
    expect(all.items.filter((entry) => /realtime|rerank|ocr/.test(entry.model_name))).toEqual([]);
  });

  test("has separate prices for image tokens", async () => {
    const painter = await findCatalogEntry("openai:gpt-image-2", NOW);
    expect(painter).toMatchObject({ input_cost_per_million_tokens: 5, image_input_cost_per_million_tokens: 8 });
    // Its only output is images.
    expect(painter.output_cost_per_million_tokens).toBe(30);
    const catalog = (await listCatalog({}, { limit: 10_000, offset: 0 }, NOW)).items;
    expect(catalog.some((entry) => (entry.image_output_cost_per_million_tokens ?? 0) > (entry.output_cost_per_million_tokens ?? 0))).toBe(
      true,
    );
  });

  test("can be searched by name, provider and mode, ignoring case", async () => {
    const found = await listCatalog({ provider_key: "anthropic", search: "SONNET", mode: "chat" }, { limit: 2, offset: 1 }, NOW);
    expect(found.items.length).toBe(2);
    expect(found.total).toBeGreaterThan(4);
    expect(found.items.every((entry) => entry.provider_key === "anthropic" && entry.model_name.includes("sonnet"))).toBe(true);
  });
});

describe("catalog facts of a new model", () => {
  const openai = { provider_key: "openai", api_format: "openai", base_url: "https://api.openai.com/v1" };

  test("are found by provider key, by address, and by format", async () => {
    expect((await catalogFacts(openai, ["gpt-4o-2024-08-06"], NOW))?.id).toBe("openai:gpt-4o");
    expect(
      (
        await catalogFacts(
          { ...openai, provider_key: "fast", base_url: "https://api.groq.com/openai/v1" },
          ["llama-3.3-70b-versatile"],
          NOW,
        )
      )?.id,
    ).toBe("groq:llama-3.3-70b-versatile");
    expect(
      (await catalogFacts({ provider_key: "mine", api_format: "anthropic", base_url: "https://proxy.test" }, ["claude-sonnet-5"], NOW))?.id,
    ).toBe("anthropic:claude-sonnet-5");
  });

  test.each([
    ["vertex", "https://europe-west1-aiplatform.googleapis.com", "claude-sonnet-4-5@20250929", "vertex:claude-sonnet-4-5"],
    ["vertex", "https://aiplatform.googleapis.com/v1", "claude-haiku-4-5", "vertex:claude-haiku-4-5"],
    ["vertex", "https://us-central1-aiplatform.googleapis.com", "gemini-2.5-pro", "vertex:gemini-2.5-pro"],
    ["gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-pro", "gemini:gemini-2.5-pro"],
    [
      "bedrock",
      "https://bedrock-runtime.eu-west-1.amazonaws.com",
      "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
      "bedrock:regional.anthropic.claude-haiku-4-5-20251001-v1:0",
    ],
    [
      "bedrock",
      "https://bedrock-runtime.eu-west-1.amazonaws.com",
      "global.anthropic.claude-haiku-4-5-20251001-v1:0",
      "bedrock:global.anthropic.claude-haiku-4-5-20251001-v1:0",
    ],
    [
      "bedrock",
      "https://bedrock-runtime.us-east-1.amazonaws.com",
      "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0",
      "bedrock:regional.anthropic.claude-haiku-4-5-20251001-v1:0",
    ],
    [
      "bedrock",
      "https://bedrock-runtime.us-east-1.amazonaws.com",
      "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0",
      "bedrock:amazon.nova-pro-v1:0",
    ],
    ["azure_openai", "https://ours.openai.azure.com", "gpt-4o-2024-11-20", "azure:gpt-4o"],
  ])("of a provider with a custom key, format %s at %s, are found for %s as %s", async (api_format, base_url, name, id) => {
    const found = await catalogFacts({ provider_key: "ours", api_format, base_url }, [name], NOW);
    expect([found?.id, found?.input_cost_per_million_tokens]).toEqual([id, expect.any(Number)]);
  });

  test("are found at unknown addresses only for names that identify one vendor's model", async () => {
    const local = { provider_key: "local", api_format: "openai", base_url: "http://10.1.1.1/v1" };
    expect((await catalogFacts(local, ["gpt-4o"], NOW))?.id).toBe("openai:gpt-4o");
    expect(await catalogFacts(local, ["llama-3.3-70b-versatile"], NOW)).toBeNull();
    expect(await catalogFacts(openai, ["my-finetune"], NOW)).toBeNull();
    expect(await catalogFacts(local, ["our-deployment", "claude-3-5-sonnet of the help desk"], NOW)).toBeNull();
    expect(await catalogFacts({ provider_key: "echo", api_format: "echo", base_url: null }, ["gpt-4o"], NOW)).toBeNull();
  });
});

test.each([
  ["claude-3-haiku", false, true],
  ["claude-sonnet-4-5-20250929", false, true],
  ["claude-opus-4-20250514", false, true],
  ["claude-opus-4-7", false, false],
  ["anthropic.claude-opus-4-8-v1:0", true, false],
  ["claude-sonnet-5", true, false],
  ["anthropic/claude-opus-4.7", false, false],
  ["claude-fable-5-1", true, false],
  ["gpt-6-sol", null, null],
  ["gpt-5-mini-2025-08-07", null, false],
  ["gpt-5-chat-latest", null, null],
  ["openai/o3", null, false],
  ["o4-mini", null, false],
])(
  "%s: support of system messages within a conversation is %p, of sampling parameters %p",
  (name, supports_system_turns, supports_sampling) => {
    expect(dialectByName(name)).toEqual({ supports_system_turns, supports_sampling });
  },
);

test("audio prices and web search fees are taken from the catalog where it has them", async () => {
  const claude = await findCatalogEntry("anthropic:claude-sonnet-5", NOW);
  expect([claude.web_search_cost_per_thousand, claude.audio_input_cost_per_million_tokens]).toEqual([10, null]);
  expect([
    (await findCatalogEntry("gemini:gemini-2.5-flash", NOW)).web_search_cost_per_thousand,
    (await findCatalogEntry("gemini:gemini-3.5-flash", NOW)).web_search_cost_per_thousand,
  ]).toEqual([35, 14]);
  expect(
    all.items.some(
      (entry) => entry.mode === "chat" && (entry.audio_input_cost_per_million_tokens ?? 0) > (entry.input_cost_per_million_tokens ?? 0),
    ),
  ).toBe(true);
});

test.each([
  ["claude-3-haiku-20240307", 4_096],
  ["claude-3-5-sonnet-20241022", 8_192],
  ["claude-3-7-sonnet-20250219", 64_000],
  ["claude-sonnet-4-20250514", 64_000],
  ["anthropic.claude-sonnet-4-5-v1:0", 64_000],
  ["claude-opus-4-20250514", 32_000],
  ["claude-opus-4-1-20250805", 32_000],
  ["claude-opus-4-1", 32_000],
  ["claude-opus-4-5-20251101", 64_000],
  ["claude-opus-4-7", null],
  ["anthropic/claude-opus-4.5", 64_000],
  ["anthropic/claude-opus-4.8", null],
  ["anthropic/claude-sonnet-4.6", null],
  ["gemini-3.5-flash", null],
  ["claude-sonnet-4-6", null],
  ["claude-fable-5-1", null],
  ["gpt-4o-mini-2024-07-18", 16_384],
  ["gpt-4o-audio-preview", null],
  ["openai/gpt-4.1-nano", 32_768],
  ["gpt-5-nano", 128_000],
  ["gpt-5-pro", null],
  ["o3", 100_000],
  ["o1-mini", null],
  ["gemini-2.5-flash-lite", 65_536],
  ["gemini-2.5-flash-image", null],
])("the output limit of %s is %p tokens", (name, limit) => {
  expect(outputLimitByName(name, ["chat"])).toBe(limit);
});

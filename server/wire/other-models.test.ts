import { expect, test } from "bun:test";
import type { JsonObject } from "../kernel/json-value.ts";
import { otherModels } from "./other-models.ts";

test.each<[string, JsonObject, string[]]>([
  ["OpenRouter, Vercel and ngrok", { models: ["a/b"], route: "fallback" }, ["models", "route"]],
  ["Anthropic and LiteLLM", { fallbacks: [{ model: "b" }] }, ["fallbacks"]],
  ["Anthropic with default fallbacks", { fallbacks: "default" }, ["fallbacks"]],
  ["LiteLLM", { context_window_fallbacks: [{ a: ["b"] }], user_config: { model_list: [] } }, ["context_window_fallbacks", "user_config"]],
  ["a multipart form", { "fallbacks[]": ["b"] }, ["fallbacks[]"]],
  ["Groq", { compound_custom: { models: { answering_model: "b" } } }, ["compound_custom"]],
  ["Vercel's options", { providerOptions: { gateway: { models: ["b"] } } }, ["providerOptions.gateway.models"]],
  ["a body within the body", { extra_body: { model: "b", seed: 1 } }, ["extra_body.model"]],
  ["a nested body within the body", { extra_body: { extra_body: { Fallbacks: ["b"] } } }, ["extra_body.extra_body.Fallbacks"]],
  ["members in another case", { Models: ["b"], FallBacks: ["c"] }, ["Models", "FallBacks"]],
  ["plugins", { plugins: [{ id: "web" }, { id: "fusion", analysis_models: ["b"] }] }, ["plugins[1].id", "plugins[1].analysis_models"]],
  [
    "vendors' tools",
    { tools: [{ type: "advisor_20260301", name: "advisor", model: "b" }, { type: "openrouter:fusion" }] },
    ["tools (advisor_20260301)", "tools (openrouter:fusion)"],
  ],
  [
    "tools added between messages",
    { messages: [{ role: "user", content: [{ type: "tool_addition", tool: { definition: { type: "advisor_20260301" } } }] }] },
    ["tools (advisor_20260301)"],
  ],
  [
    "tools added between items",
    { input: [{ type: "additional_tools", tools: [{ type: "openrouter:advisor" }] }] },
    ["tools (openrouter:advisor)"],
  ],
])("requests for other models are found as in %s", (_vendor, body, fields) => {
  expect(otherModels({ model: "a", ...body })).toEqual(fields);
});

test.each<[string, JsonObject]>([
  ["empty settings", { models: [], fallbacks: null, route: "sort", extra_body: {}, fallback_models: "" }],
  [
    "settings for hosts of the model",
    { provider: { order: ["groq"], allow_fallbacks: false }, providerOptions: { gateway: { only: ["x"] } } },
  ],
  [
    "other plugins",
    {
      plugins: [
        { id: "web", max_results: 3 },
        { id: "auto-router", allowed_models: ["a/*"] },
      ],
    },
  ],
  [
    "the caller's own tools",
    {
      tools: [
        { type: "function", function: { name: "advisor" } },
        { type: "custom", name: "fusion" },
      ],
    },
  ],
  ["tools that generate no text", { tools: [{ type: "image_generation", model: "gpt-image-2" }, { type: "web_search" }] }],
  ["metadata and message members", { metadata: { models: ["b"] }, messages: [{ role: "user", content: "x", models: ["b"] }] }],
])("no other model is found in %s", (_what, body) => {
  expect(otherModels({ model: "a", ...body })).toEqual([]);
});

import { expect, test } from "bun:test";
import type { JsonObject } from "../kernel/json-value.ts";
import { otherModels } from "./other-models.ts";

test.each<[string, JsonObject, string[]]>([
  ["OpenRouter, Vercel and ngrok", { models: ["a/b"], route: "fallback" }, ["models", "route"]],
  ["Anthropic and LiteLLM", { fallbacks: [{ model: "b" }] }, ["fallbacks"]],
  ["Anthropic, who then chooses itself", { fallbacks: "default" }, ["fallbacks"]],
  ["LiteLLM", { context_window_fallbacks: [{ a: ["b"] }], user_config: { model_list: [] } }, ["context_window_fallbacks", "user_config"]],
  ["a form", { "fallbacks[]": ["b"] }, ["fallbacks[]"]],
  ["Groq", { compound_custom: { models: { answering_model: "b" } } }, ["compound_custom"]],
  ["Vercel's options", { providerOptions: { gateway: { models: ["b"] } } }, ["providerOptions.gateway.models"]],
  ["a body within the body", { extra_body: { model: "b", seed: 1 } }, ["extra_body.model"]],
  ["the same deeper down", { extra_body: { extra_body: { Fallbacks: ["b"] } } }, ["extra_body.extra_body.Fallbacks"]],
  ["another letter case", { Models: ["b"], FallBacks: ["c"] }, ["Models", "FallBacks"]],
  ["plugins", { plugins: [{ id: "web" }, { id: "fusion", analysis_models: ["b"] }] }, ["plugins[1].id", "plugins[1].analysis_models"]],
  [
    "tools of a vendor",
    { tools: [{ type: "advisor_20260301", name: "advisor", model: "b" }, { type: "openrouter:fusion" }] },
    ["tools (advisor_20260301)", "tools (openrouter:fusion)"],
  ],
  [
    "tools between messages",
    { messages: [{ role: "user", content: [{ type: "tool_addition", tool: { definition: { type: "advisor_20260301" } } }] }] },
    ["tools (advisor_20260301)"],
  ],
  ["tools among items", { input: [{ type: "additional_tools", tools: [{ type: "openrouter:advisor" }] }] }, ["tools (openrouter:advisor)"]],
])("other models are asked for as %s has it", (_vendor, body, fields) => {
  expect(otherModels({ model: "a", ...body })).toEqual(fields);
});

test.each<[string, JsonObject]>([
  ["what asks for nothing", { models: [], fallbacks: null, route: "sort", extra_body: {}, fallback_models: "" }],
  [
    "which hosts may serve the model",
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
    "tools of the caller's own",
    {
      tools: [
        { type: "function", function: { name: "advisor" } },
        { type: "custom", name: "fusion" },
      ],
    },
  ],
  ["tools that write no text", { tools: [{ type: "image_generation", model: "gpt-image-2" }, { type: "web_search" }] }],
  ["what callers tell each other", { metadata: { models: ["b"] }, messages: [{ role: "user", content: "x", models: ["b"] }] }],
])("%s is left alone", (_what, body) => {
  expect(otherModels({ model: "a", ...body })).toEqual([]);
});

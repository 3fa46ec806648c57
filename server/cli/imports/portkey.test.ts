import { expect, test } from "bun:test";
import { catalogMembers } from "../../directory/models/catalog/fill.ts";
import type { KnownFacts } from "./litellm-catalog.ts";
import { importModelList } from "./openrouter.ts";
import { importPortkey, vendorsByName } from "./portkey.ts";

/** Portkey configs and model lists, after their makers' examples. */
const known: KnownFacts = (place, name, given) => catalogMembers(place, name, given, new Date("2026-11-01T00:00:00Z"));
const ported = (config: object, ...vendors: readonly string[]) =>
  importPortkey(JSON.stringify(config), "moved", "c", known, vendorsByName(vendors));
const listed = (list: unknown) => importModelList(JSON.stringify(list), "moved", "https://openrouter.ai/api/v1", known);
const target = (provider: string, model: string, more: object = {}) => ({ provider, api_key: "k", override_params: { model }, ...more });

test("a model with an integration prefix needs --provider to name the vendor of the integration", async () => {
  const config = {
    strategy: { mode: "fallback" },
    targets: [
      { override_params: { model: "@openai-prod/gpt-4o" } },
      { provider: "@claude-eu", override_params: { model: "claude-sonnet-4-5" } },
      { virtual_key: "groq-1", override_params: { model: "meta/llama-3.3-70b" } },
      { override_params: { model: "@openai/gpt-4o-mini" } },
    ],
  };
  const without = await ported(config);
  expect(without.all("llms")).toMatchObject([{ name: "c at openai", model_name: "gpt-4o-mini", routing_weight: 1 }]);
  expect(without.notes).toEqual(
    ["openai-prod", "claude-eu", "groq-1"].map(
      (name, at) =>
        `targets[${at}]: which vendor "${name}" stands for is not in the config; say it by --provider ${name}=VENDOR, or add it by hand`,
    ),
  );
  const into = await ported(config, "openai-prod=openai", "@claude-eu=anthropic", "groq-1=groq");
  expect(into.all("llms")).toMatchObject([
    { provider: "openai-prod", model_name: "gpt-4o", routing_weight: 4 },
    { provider: "claude-eu", model_name: "claude-sonnet-4-5", routing_weight: 3 },
    { provider: "groq-1", model_name: "meta/llama-3.3-70b", routing_weight: 2 },
    { provider: "openai", model_name: "gpt-4o-mini", routing_weight: 1 },
  ]);
  expect(into.all("providers")).toMatchObject([
    { provider_key: "openai-prod", api_format: "openai", base_url: "https://api.openai.com/v1" },
    { provider_key: "claude-eu", api_format: "anthropic" },
    { provider_key: "groq-1", base_url: "https://api.groq.com/openai/v1" },
    { provider_key: "openai" },
  ]);
  expect([...into.variables]).toEqual([
    ["OPENAI_API_KEY", 'the key of the integration "openai-prod"'],
    ["ANTHROPIC_API_KEY", 'the key of the integration "claude-eu"'],
    ["GROQ_API_KEY", "the key behind the virtual key of targets[2]"],
    ["OPENAI_API_KEY_2", "a key of openai, which targets[3] does not hold"],
  ]);
  expect(() => vendorsByName(["openai-prod=opnai"])).toThrow('"opnai" is no vendor that is known here');
  expect(() => vendorsByName(["openai-prod"])).toThrow("must be NAME=VENDOR");
});

test("target weights keep their proportions, also for nested targets", async () => {
  const into = await ported({
    strategy: { mode: "loadbalance" },
    targets: [
      target("openai", "a", { weight: 0.6 }),
      { weight: 0.3, strategy: { mode: "fallback" }, targets: [target("openai", "b"), target("openai", "spare")] },
      { weight: 0.1, strategy: { mode: "loadbalance" }, targets: [target("openai", "c", { weight: 3 }), target("openai", "d")] },
    ],
  });
  const weights = into.all("llms").map((one) => [one["model_name"], one["routing_weight"]]);
  expect(weights).toEqual([
    ["a", 600],
    ["b", 300],
    ["spare", 0],
    ["c", 75],
    ["d", 25],
  ]);
});

test("very unequal weights keep their proportions", async () => {
  const canary = (stable: number, tried: number) =>
    ported({
      strategy: { mode: "loadbalance" },
      targets: [target("openai", "stable", { weight: stable }), target("openai", "tried", { weight: tried })],
    });
  const weights = async (...of: [number, number]) => (await canary(...of)).all("llms").map((one) => one["routing_weight"]);
  expect(await weights(0.999, 0.001)).toEqual([999, 1]);
  expect(await weights(0.995, 0.005)).toEqual([995, 5]);
  expect(await weights(20_000_000, 10_000_000)).toEqual([1_000_000, 500_000]);
});

test("weights within the first fallback target are kept, and later targets serve only if none of it can", async () => {
  const shared = {
    strategy: { mode: "loadbalance" },
    targets: [target("openai", "a", { weight: 0.7 }), target("openai", "b", { weight: 0.3 })],
  };
  const into = await ported({ strategy: { mode: "fallback" }, targets: [shared, target("anthropic", "c")] });
  expect(into.all("routing_groups")).toMatchObject([{ routing_strategy: "simple-shuffle" }]);
  expect(into.all("llms").map((one) => [one["model_name"], one["routing_weight"]])).toEqual([
    ["a", 7],
    ["b", 3],
    ["c", 0],
  ]);
  const behind = await ported({ strategy: { mode: "fallback" }, targets: [target("anthropic", "c"), shared] });
  expect(behind.all("routing_groups")).toMatchObject([{ routing_strategy: "ordered" }]);
  expect(behind.notes).toContain("targets[1]: its shares have no equivalent behind the first target; its targets are asked in their order");
});

test("invalid values are reported with their place in the config", async () => {
  const { notes } = await ported({
    strategy: { mode: "falback" },
    request_timeout: "10s",
    retry: { attempts: "5" },
    targets: ["openai", target("openai", "gpt-4o", { weight: "heavy", request_timeout: 5, retry: { attempts: 1 } })],
  });
  expect(notes).toEqual([
    'strategy.mode: "falback" is none that is known; its targets are asked in their order',
    "targets[0]: is no target",
    "targets[1].weight: must be a number from 0, and was left out",
    "targets[1].retry: is one for all targets here, that of the routing group",
    "targets[1].request_timeout: is one for all targets here, that of the routing group",
    "retry.attempts: must be a number from 0, and was left out",
    "request_timeout: must be a number from 0, and was left out",
  ]);
  const nothing = await ported({ strategy: { mode: "fallback" }, targets: [] });
  expect([nothing.count("routing_groups"), nothing.notes]).toEqual([0, ["no model could be made, so there is no routing group"]]);
});

test("AWS keys become one credential, self-hosted servers need none, and models without price or chat are reported", async () => {
  const aws = { aws_access_key_id: "AKIA1", aws_secret_access_key: "s", aws_region: "eu-west-1" };
  const into = await ported({
    targets: [
      { ...aws, provider: "bedrock", override_params: { model: "amazon.nova-pro-v1:0" } },
      { provider: "ollama", custom_host: "http://10.0.0.1:11434/v1", override_params: { model: "our-llama" } },
      target("azure-openai", "gpt-4o", { resource_name: "corp", deployment_id: "ours" }),
      target("openai", "text-embedding-3-small"),
    ],
  });
  expect([...into.variables.values()]).toEqual([
    "targets[0].aws_access_key_id and aws_secret_access_key, as ID:SECRET",
    "targets[2].api_key",
    "targets[3].api_key",
  ]);
  expect(into.find("providers", "ollama")).not.toHaveProperty("api_key");
  expect(into.all("llms").at(2)).toMatchObject({ model_name: "ours", input_cost_per_million_tokens: 2.5 });
  expect(into.notes).toEqual([
    'targets[3]: "text-embedding-3-small" does not serve chat (embedding); add it by hand, as a model of its own',
    'no price is known for "c at ollama": their calls cost nothing in budgets until it is set',
  ]);
});

test("a model list import reports prices without an equivalent, missing prices and duplicate models", async () => {
  const pricing = { prompt: "0.000001", completion: "0.000002", web_search: "0.01" };
  const into = await listed({
    data: [
      { id: "x/all", pricing, context_length: 0 },
      { id: "x/fee", pricing: { ...pricing, request: "0.005", internal_reasoning: "0" } },
      { id: "x/auto", pricing: { prompt: "-1", completion: "-1" } },
      { id: "x/all", pricing },
      ...Array.from({ length: 25 }, (_, n) => `y/${n}`),
    ],
    provider: { order: ["openai"] },
  });
  expect(into.find("llms", "x/all")).not.toHaveProperty("context_window");
  expect(into.notes).toEqual([
    "provider: has no equivalent",
    "[3] (x/all): stands there before; what stands last was taken",
    'pricing.request has no equivalent: calls of "x/fee" may cost more than budgets see',
    expect.stringMatching(/^no price is known for "x\/auto", "y\/0", .*"y\/18" and 6 more: their calls/),
  ]);
});

test("a list from an IP address gets a valid shell variable name for its key", async () => {
  const into = await importModelList(JSON.stringify(["x"]), "moved", "http://127.0.0.1:8000/v1", known);
  expect(into.all("providers")).toMatchObject([{ provider_key: "at-127.0.0.1", api_key: { from_env: "AT_127_0_0_1_API_KEY" } }]);
});

import { describe, expect, test } from "bun:test";
import { catalogMembers } from "../../directory/models/catalog/fill.ts";
import { KINDS } from "../configuration/kinds.ts";
import type { ConfigEntry } from "../configuration/value.ts";
import { importLitellm } from "./litellm.ts";
import type { KnownFacts } from "./litellm-catalog.ts";
import { importModelList } from "./openrouter.ts";
import { importPortkey } from "./portkey.ts";

const known: KnownFacts = (place, name, given) => catalogMembers(place, name, given, new Date("2026-11-01T00:00:00Z"));

async function imported(text: string, env: Record<string, string> = {}) {
  const into = await importLitellm(text, "moved", env, known);
  const of = (section: string, member: string) => into.all(section).map((entry: ConfigEntry) => entry[member]);
  return { into, of, notes: into.notes.join("\n"), file: into.file(KINDS.map(({ section }) => section)) };
}

const model = (name: string, params: string, info = "{}") =>
  `  - { model_name: "${name}", litellm_params: { ${params} }, model_info: ${info} }\n`;

test("an import reports that models stored in LiteLLM's database are not in the file", async () => {
  const { into, notes } = await imported(`general_settings: { database_url: "postgres://x", store_model_in_db: true }`);
  expect(into.count("llms")).toBe(0);
  expect(notes).toContain("model_list: is not in the file, so there is no model to bring");
  expect(notes).toMatch(/store_model_in_db: models that LiteLLM has in its database and not in this file are not brought/);
  expect(notes).toMatch(/database_url: .*keys, teams and budgets .* have to be made anew/);
  expect((await imported(`model_list:\n${model("a", "model: openai/x")}`)).notes).not.toContain("model_list: is not in the file");
});

test("OpenAI-compatible vendors known to LiteLLM are imported; models of unknown vendors are reported", async () => {
  const { of, notes } = await imported(
    `model_list:\n${model("a", "model: volcengine/doubao-pro")}${model("b", "model: dashscope/qwen-max, api_base: https://dashscope.test/v1")}${model("c", "model: dashscope/qwen-max")}${model("d", "model: watsonx/granite")}`,
  );
  expect(of("providers", "base_url")).toEqual(["https://ark.cn-beijing.volces.com/api/v3", "https://dashscope.test/v1"]);
  expect(of("providers", "api_key")).toEqual([{ from_env: "VOLCENGINE_API_KEY" }, { from_env: "DASHSCOPE_API_KEY" }]);
  expect(notes).toContain("model_list[2] (c): was left out, because its address is not known");
  expect(notes).toContain('model_list[3] (d): there is no provider here for "watsonx", so it was left out');
});

describe("an address given by an environment variable", () => {
  const text = `environment_variables: { OURS_BASE: "http://gpu.internal:8000/v1" }
model_list:
${model("azure", "model: azure/prod, api_base: os.environ/AZURE_BASE, api_key: os.environ/AZURE_KEY")}${model("ours", "model: openai/llama, api_base: os.environ/OURS_BASE, api_key: os.environ/OURS_KEY")}${model("nova", "model: bedrock/amazon.nova-pro-v1:0, aws_region_name: os.environ/REGION")}${model("gemini", "model: vertex_ai/gemini-2.5-pro, vertex_project: os.environ/PROJECT, vertex_location: us-east5")}mcp_servers: { zapier: { url: os.environ/ZAPIER_URL }, odd: { url: "not a url" } }
`;

  test("is read from the environment of the import, or from environment_variables in the file", async () => {
    const env = {
      AZURE_BASE: "https://r.openai.azure.com",
      REGION: "eu-west-1",
      PROJECT: "p1",
      ZAPIER_URL: "https://z.test/mcp?key=s3cret",
    };
    const { of, notes, file } = await imported(text, { ...env, AZURE_KEY: "sk-azure-value" });
    expect(of("providers", "base_url")).toEqual([
      "https://r.openai.azure.com",
      "http://gpu.internal:8000/v1",
      "https://bedrock-runtime.eu-west-1.amazonaws.com",
      "https://us-east5-aiplatform.googleapis.com/v1/projects/p1/locations/us-east5",
    ]);
    expect(of("mcp_servers", "base_url")).toEqual(["https://z.test"]);
    expect(notes).toContain("mcp_servers.odd: was left out, because its url is none");
    expect(JSON.stringify(file)).not.toMatch(/sk-azure-value|s3cret/);
  });

  test("of Bedrock without a region in it is imported together with the region, so that requests can be signed", async () => {
    const at = (endpoint: string, region: string) =>
      `model: bedrock/amazon.nova-pro-v1:0, aws_bedrock_runtime_endpoint: "${endpoint}", aws_region_name: ${region}`;
    const own = "https://bedrock.corp.test";
    const vpc = "https://vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com";
    const { of } = await imported(
      `model_list:\n${model("a", at(own, "eu-west-1"))}${model("b", at(own, "us-east-1"))}${model("c", at(vpc, "eu-west-1"))}`,
    );
    expect(of("providers", "base_url")).toEqual([own, own, vpc]);
    expect(of("providers", "region")).toEqual(["eu-west-1", "us-east-1", undefined]);
    const target = { provider: "bedrock", aws_region: "eu-west-1", custom_host: own, override_params: { model: "amazon.nova-pro-v1:0" } };
    const fromPortkey = await importPortkey(JSON.stringify(target), "moved", "assistant", known);
    expect(fromPortkey.all("providers")).toMatchObject([{ base_url: own, region: "eu-west-1" }]);
  });

  test("is taken from LiteLLM's own variables, before the vendor's default, for an entry without api_base", async () => {
    const entries = `model_list:
${model("a", "model: openai/x")}${model("b", "model: anthropic/claude-x")}${model("c", "model: ollama_chat/llama")}${model("d", "model: hosted_vllm/q")}${model("e", "model: bedrock/amazon.nova-pro-v1:0, aws_region_name: eu-west-1")}${model("f", "model: groq/x, api_base: https://own.test/v1")}`;
    const set = (name: string, value: string) => `${name}: "${value}"`;
    const own = [set("OPENAI_API_BASE", "https://llm.corp.test/v1"), set("ANTHROPIC_BASE_URL", "https://claude.corp.test")];
    const env = { OLLAMA_API_BASE: "http://gpu:11434", HOSTED_VLLM_API_BASE: "http://vllm/v1", GROQ_API_BASE: "https://groq.corp.test" };
    const { of } = await imported(`environment_variables: { ${own.join(", ")} }\n${entries}`, {
      ...env,
      AWS_BEDROCK_RUNTIME_ENDPOINT: "https://bedrock.corp.test",
    });
    expect(of("providers", "base_url")).toEqual([
      "https://llm.corp.test/v1",
      "https://claude.corp.test",
      "http://gpu:11434/v1",
      "http://vllm/v1",
      "https://bedrock.corp.test",
      "https://own.test/v1",
    ]);
  });

  test("in litellm_settings applies to entries without api_base, which are left out if the variable is not set", async () => {
    const entries = `model_list:\n${model("a", "model: openai/x")}${model("b", "model: groq/x, base_url: https://own.test/v1")}`;
    const settings = "litellm_settings: { api_base: os.environ/CORP_BASE }\n";
    const { of, notes } = await imported(settings + entries, {
      CORP_BASE: "https://llm.corp.test/v1",
      OPENAI_API_BASE: "https://not.test",
    });
    expect(of("providers", "base_url")).toEqual(["https://llm.corp.test/v1", "https://own.test/v1"]);
    expect(notes).not.toContain("litellm_settings.api_base");
    const without = await imported(settings + entries);
    expect(without.of("providers", "base_url")).toEqual(["https://own.test/v1"]);
    expect(without.notes).toContain("model_list[0] (a): was left out, because its address is not known: the variable CORP_BASE is not set");
  });

  test("is never replaced by the vendor's default if the variable is unset: the model is left out with a note", async () => {
    const { of, notes } = await imported(text.replace(/^environment_variables.*\n/, ""));
    expect(of("providers", "base_url")).toEqual([]);
    for (const [name, variable] of [
      ["model_list[0] (azure)", "AZURE_BASE"],
      ["model_list[1] (ours)", "OURS_BASE"],
      ["model_list[2] (nova)", "REGION"],
      ["model_list[3] (gemini)", "PROJECT"],
      ["mcp_servers.zapier", "ZAPIER_URL"],
    ] as const)
      expect(notes).toContain(`${name}: was left out, because its address is not known: the variable ${variable} is not set`);
  });
});

test("different credentials become different providers, and equal credentials one provider", async () => {
  const aws = (id: string) => `model: bedrock/amazon.nova-lite-v1:0, aws_region_name: us-east-1, aws_access_key_id: os.environ/${id}`;
  const vertex = (file: string) => `model: vertex_ai/gemini-2.5-pro, vertex_location: global, vertex_credentials: ${file}`;
  const literal = (key: string) => `model: openai/x, api_base: "http://10.0.0.1/v1", api_key: ${key}`;
  const { of } = await imported(
    `model_list:\n${model("a", aws("ID_1"))}${model("b", aws("ID_2"))}${model("c", aws("ID_1"))}${model("d", vertex("/1.json"))}${model("e", vertex("/2.json"))}${model("f", literal("same"))}${model("g", literal("same"))}${model("h", "model: bedrock/us-west-2/amazon.nova-lite-v1:0")}`,
  );
  expect(of("llms", "provider")).toEqual(["bedrock", "bedrock-2", "bedrock", "vertex-ai", "vertex-ai-2", "openai", "openai", "bedrock-3"]);
  expect(of("providers", "api_key")).toEqual([
    { from_env: "BEDROCK_US_EAST_1_CREDENTIALS" },
    { from_env: "BEDROCK_US_EAST_1_CREDENTIALS_2" },
    { from_env: "VERTEX_SERVICE_ACCOUNT" },
    { from_env: "VERTEX_SERVICE_ACCOUNT_2" },
    { from_env: "OPENAI_MODEL_LIST_5_API_KEY" },
    { from_env: "BEDROCK_CREDENTIALS" },
  ]);
  expect(of("providers", "base_url").at(-1)).toBe("https://bedrock-runtime.us-west-2.amazonaws.com");
  expect(of("llms", "model_name").at(-1)).toBe("amazon.nova-lite-v1:0");

  const portkey = JSON.stringify({
    strategy: { mode: "loadbalance" },
    targets: ["vk-1", "vk-2", "vk-1"].map((key) => ({ provider: "openai", virtual_key: key, override_params: { model: "gpt-4o" } })),
  });
  const ported = await importPortkey(portkey, "moved", "c", known);
  expect(ported.all("llms").map((entry) => entry["provider"])).toEqual(["openai", "openai-2", "openai"]);
  expect([...ported.variables.keys()]).toEqual(["OPENAI_API_KEY", "OPENAI_API_KEY_2"]);
});

test("each tool server gets its own token variable, even if server names map to the same variable name", async () => {
  const server = (token: string) => `{ url: "https://s.test/mcp", auth_type: bearer_token, auth_value: ${token} }`;
  const { of, into } = await imported(
    `mcp_servers: { my-search: ${server("tok-1")}, my_search: ${server("tok-2")}, 检索: ${server("tok-3")}, 知识: ${server("tok-4")}, last: ${server("os.environ/TOKEN_2")} }`,
  );
  const variables = of("mcp_servers", "api_key").map((key) => (key as { from_env: string }).from_env);
  expect(variables).toEqual(["MY_SEARCH_TOKEN", "MY_SEARCH_TOKEN_2", "TOKEN", "TOKEN_3", "TOKEN_2"]);
  expect([...into.variables.keys()].sort()).toEqual([...variables].sort());
});

test("an Azure deployment keeps its name without LiteLLM's series prefix", async () => {
  const azure = (name: string) => `model: azure/${name}, api_base: "https://r.openai.azure.com", api_key: os.environ/K`;
  const { of } = await imported(`model_list:\n${model("a", azure("o_series/my-o3"))}${model("b", azure("gpt5_series/my-gpt"))}`);
  expect(of("llms", "model_name")).toEqual(["my-o3", "my-gpt"]);
});

test("deployment weights keep their proportions as routing weights", async () => {
  const shares = async (...params: string[]) =>
    (await imported(`model_list:\n${params.map((each, n) => model("m", `model: openai/m${n}, ${each}`)).join("")}`)).of(
      "llms",
      "routing_weight",
    );
  expect(await shares("weight: 0.9", "weight: 0.1")).toEqual([9, 1]);
  expect(await shares("weight: 2", "weight: 0.25", "weight: 0")).toEqual([200, 25, 0]);
  expect(await shares("rpm: 500", "rpm: 1500")).toEqual([500, 1500]);
  expect(await shares("weight: 3", "weight: 3")).toEqual([undefined, undefined]);
  expect(await shares("order: 1", "order: 2")).toEqual([2, 1]);
});

test("an entry without a mode gets the mode of its model name or of the catalog", async () => {
  const { of, notes } = await imported(
    `model_list:\n${["text-embedding-3-small", "whisper-1", "tts-1", "gpt-image-1", "gpt-5"].map((name) => model(name, `model: openai/${name}`)).join("")}${model("ada", "model: openai/our-deployment", "{ base_model: azure/text-embedding-ada-002 }")}${model("ranks", "model: cohere/rerank-v3.5, input_cost_per_query: 0.002")}${model("tools", "model: openai/gpt-5", "{ file_search_cost_per_1k_calls: 2, code_interpreter_cost_per_session: 0.02 }")}${model("live", "model: openai/gpt-realtime", "{ mode: realtime }")}${model("reads", "model: mistral/ocr", "{ mode: ocr }")}`,
  );
  expect(of("llms", "modes")).toEqual([
    ["embedding"],
    ["audio_transcription"],
    ["audio_speech"],
    ["image"],
    undefined,
    ["embedding"],
    ["rerank"],
    undefined,
    ["realtime"],
  ]);
  expect(of("llms", "search_unit_cost_per_thousand").filter((cost) => cost !== undefined)).toEqual([2]);
  expect(of("llms", "tool_prices").filter((prices) => prices !== undefined)).toEqual([
    [
      { tool: "file_search", usd_per_thousand: 2 },
      { tool: "code_interpreter", usd_per_thousand: 20 },
    ],
  ]);
  expect(notes).toContain("models of the mode ocr are not served");
});

test("numbers given as text, model aliases and rate limits of several models are imported or reported", async () => {
  const { into, of, notes } = await imported(`model_list:
${model("gpt-4", "model: openai/gpt-4")}${model("gpt-4o", "model: openai/gpt-4o, rpm: 5")}${model("o1", "model: openai/o1")}router_settings: { num_retries: "4", timeout: soon, model_group_alias: { gpt-4: gpt-4o, fast: gpt-4o }, fallbacks: [{ o1: [fast] }] }
litellm_settings: { max_budget: "12.5", budget_duration: 30d }
`);
  const hidden = { portal_visible: false };
  expect(into.all("resource_groups")).toEqual([
    {
      name: "moved",
      llm_global_limits: { budget: { monthly_limit_usd: 12.5, hard_stop: true } },
      llms: { "o1 at openai": hidden, "o1 falls back to gpt-4o": hidden, "fast at openai": hidden },
    },
  ]);
  expect(of("routing_groups", "name")).toEqual(["o1", "fast"]);
  expect(of("routing_groups", "num_retries")).toEqual([4, 4]);
  expect(of("llms", "name")).toEqual(["gpt-4", "gpt-4o", "o1 at openai", "o1 falls back to gpt-4o", "fast at openai"]);
  for (const note of [
    'timeout: is "soon"',
    "model_group_alias.gpt-4: a model has that name too",
    'rpm and tpm hold for each of "gpt-4o", "o1 falls',
  ])
    expect(notes).toContain(note);
});

test("an alias uses its own fallbacks, else those of its model, else the default fallbacks", async () => {
  const { of, notes } = await imported(`model_list:
${model("a", "model: openai/a")}${model("b", "model: openai/b")}${model("c", "model: openai/c")}${model("d", "model: openai/d")}router_settings:
  model_group_alias: { own: a, as-a: a, as-all: b }
  fallbacks: [{ own: [d] }, { a: [b] }, { nobody: [b] }]
  default_fallbacks: [c]
`);
  const spare = of("llms", "name").filter((name) => /^(own|as-a|as-all) falls/.test(String(name)));
  expect(spare).toEqual(["own falls back to d", "as-a falls back to b", "as-all falls back to c"]);
  expect(notes).not.toContain('"own" is no model');
  expect(notes).toContain('"nobody" is no model');
});

test("fallbacks keep their order; where weights make the order impossible, a note says so", async () => {
  const names = ["a", "z", "m"].map((name) => model(name, `model: openai/${name}`)).join("");
  const fallbacks = "litellm_settings: { fallbacks: [{ a: [z, m] }] }\n";
  const { into, of, notes } = await imported(`${fallbacks}model_list:\n${names}`);
  expect(of("routing_groups", "routing_strategy")).toEqual(["ordered"]);
  const weightOf = (name: string) => into.all("llms").find((one) => one["name"] === name)?.["routing_weight"];
  expect(["a at openai", "a falls back to z", "a falls back to m"].map(weightOf)).toEqual([3, 2, 1]);
  expect(notes).not.toContain("by chance");
  const shared = await imported(`${fallbacks}model_list:\n${names}${model("a", "model: groq/a")}`);
  expect(shared.of("routing_groups", "routing_strategy")).toEqual(["simple-shuffle"]);
  expect(shared.notes).toContain('fallbacks: those of "a" (z, m) are asked by chance and not in their order');
});

test("fallbacks for requests that are too long or refused for their content are members for those only", async () => {
  const names = ["a", "b", "c", "d"].map((name) => model(name, `model: openai/${name}`)).join("");
  const { into, notes } = await imported(`model_list:
${names}litellm_settings: { context_window_fallbacks: [{ a: [d, b] }, { nobody: [a] }], content_policy_fallbacks: [{ a: [b, { model: c }] }] }
router_settings: { fallbacks: [{ a: [b] }], content_policy_fallbacks: [] }
`);
  const members = into.all("llms").filter(({ routing_group_id: id }) => id === "a");
  expect(members.map(({ name, routing_weight: weight, fallback_on: on }) => [name, weight, on])).toEqual([
    ["a at openai", undefined, undefined],
    ["a falls back to b", 0, ["failure", "context_window", "content_filter"]],
    ["a falls back to d", 0, ["context_window"]],
  ]);
  expect(into.all("routing_groups")).toHaveLength(1);
  expect(notes).toContain('context_window_fallbacks: "nobody" is no model, so its fallbacks (a) were left out');
  expect(notes).toContain("content_policy_fallbacks: a: an entry that is more than a model's name has no equivalent");
  expect(notes).not.toContain("has no equivalent; a request that is too long");
});

test("of fallbacks in both sections those of the router are imported, and a note names the others", async () => {
  const names = ["a", "b", "c"].map((name) => model(name, `model: openai/${name}`)).join("");
  const { of, notes } = await imported(`model_list:
${names}litellm_settings: { fallbacks: [{ a: [b] }], context_window_fallbacks: [{ a: [b, c] }] }
router_settings: { fallbacks: [{ a: [c] }] }
`);
  expect(of("llms", "name")).toEqual(["a at openai", "a falls back to c", "a falls back to b", "b", "c"]);
  expect(notes).toContain("litellm_settings.fallbacks: was left out, for LiteLLM uses those of router_settings");
  expect(notes).not.toContain("litellm_settings.context_window_fallbacks");
});

test("an unsupported setting is reported with its equivalent, without a complaint about its unset variable", async () => {
  const { notes } = await imported(`model_list:
${model("a", 'model: azure/a, api_base: "https://r.openai.azure.com", tenant_id: os.environ/NOT_SET, client_id: ci')}teams: [{ team_id: t }]
search_tools: [{ search_tool_name: s }]
litellm_settings: { turn_off_message_logging: true }
general_settings: { enable_jwt_auth: true }
`);
  for (const note of [
    "(a).litellm_params.tenant_id: give a key of the resource",
    "(a).litellm_params.client_id: give a key of the resource",
    "teams: a team is a resource group",
    "search_tools: make a web search provider",
    "turn_off_message_logging: store_bodies",
    "enable_jwt_auth: an identity provider",
  ])
    expect(notes).toContain(note);
  expect(notes).not.toContain("NOT_SET");
});

test("a deployment takes prices and capabilities from its base_model, unless the file sets prices", async () => {
  const azure = (name: string) => `model: azure/${name}, api_base: "https://r.openai.azure.com", api_key: os.environ/K`;
  const { into, notes } = await imported(
    `model_list:\n${model("a", azure("prod-chat"), "{ base_model: azure/gpt-4o-2024-08-06 }")}${model("b", azure("eu"), "{ base_model: azure/eu/gpt-4o }")}${model("c", `${azure("cheap")}, input_cost_per_token: 0.000001`, "{ base_model: gpt-4o }")}${model("d", azure("odd"), "{ base_model: azure/no-such-model }")}${model("e", "model: hosted_vllm/ours, api_base: http://gpu/v1", "{ base_model: anthropic/claude-sonnet-4-5 }")}`,
  );
  const told = into
    .all("llms")
    .map((entry) => [entry["input_cost_per_million_tokens"], entry["output_cost_per_million_tokens"], entry["context_window"]]);
  expect(told).toEqual([
    [2.5, 10, 128_000],
    [2.5, 10, 128_000],
    [1, undefined, 128_000],
    [undefined, undefined, undefined],
    [3, 15, expect.any(Number)],
  ]);
  expect(notes).toContain('model_list[3] (d).model_info.base_model: "azure/no-such-model" is not known here');
  expect(notes).toContain('no price is known for "d": their calls cost nothing in budgets');
});

test("service tier prices are imported", async () => {
  const { into, notes } = await imported(
    `model_list:\n${model("a", "model: openai/gpt-5, input_cost_per_token: 0.000002, input_cost_per_token_priority: 0.000004, output_cost_per_token_priority: 0.00002", "{ input_cost_per_token_flex: 0.000001, cache_read_input_token_cost_flex: 1.0e-7 }")}`,
  );
  expect(into.all("llms")[0]).toMatchObject({
    input_cost_per_million_tokens: 2,
    service_tier_prices: [
      { service_tier: "priority", input_cost_per_million_tokens: 4, output_cost_per_million_tokens: 20 },
      { service_tier: "flex", input_cost_per_million_tokens: 1, cache_read_cost_per_million_tokens: 0.1 },
    ],
  });
  expect(notes).not.toContain("_priority");
  expect(notes).not.toContain("_flex");
});

test("a model falls back only to models of the same mode, and a name is used for one mode only", async () => {
  const { of, notes, into } = await imported(`model_list:
${["gpt-5-mini", "text-embedding-3-small", "text-embedding-3-large", "gpt-5-pro", "sora-2"].map((name) => model(name, `model: openai/${name}`)).join("")}${model("mixed", "model: openai/gpt-4o")}${model("mixed", "model: openai/tts-1")}router_settings: { default_fallbacks: [gpt-5-mini], fallbacks: [{ text-embedding-3-small: [gpt-5-mini, text-embedding-3-large] }] }
`);
  expect(of("routing_groups", "name")).toEqual(["text-embedding-3-small", "mixed"]);
  expect(into.all("llms").map(({ name, routing_weight: weight }) => [name, weight])).toEqual([
    ["gpt-5-mini", undefined],
    ["text-embedding-3-small at openai", undefined],
    ["text-embedding-3-small falls back to text-embedding-3-large", 0],
    ["text-embedding-3-large", undefined],
    ["gpt-5-pro", undefined],
    ["sora-2", undefined],
    ["mixed at openai", undefined],
    ["mixed falls back to gpt-5-mini", 0],
  ]);
  expect(notes).toContain('fallbacks: "gpt-5-mini" does not serve embedding, so it is none for "text-embedding-3-small"');
  expect(notes).toContain("model_list[6] (mixed): cannot share the name with the one before");
  expect(notes).not.toContain('"*"');
});

test("a Portkey address is built from region or resource; a model list imports only text models with an ID", async () => {
  const target = (rest: object) => ({ override_params: { model: "m" }, api_key: "k", ...rest });
  const targets = [
    target({ provider: "bedrock", aws_region: "us-east-1" }),
    target({ provider: "azure-openai", resource_name: "ours" }),
    target({ provider: "vertex-ai", vertex_region: "us-east5", vertex_project_id: "p" }),
  ];
  expect((await importPortkey(JSON.stringify({ targets }), "g", "c", known)).all("providers").map((entry) => entry["base_url"])).toEqual([
    "https://bedrock-runtime.us-east-1.amazonaws.com",
    "https://ours.openai.azure.com",
    "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5",
  ]);
  const picture = { id: "x/draws", architecture: { output_modalities: ["image"] } };
  const writes = {
    id: "x/writes",
    architecture: { input_modalities: ["text"], output_modalities: ["text"] },
    top_provider: { max_completion_tokens: 9 },
  };
  const listed = await importModelList(
    JSON.stringify({ data: [{ id: "" }, picture, writes, { ...writes, id: "x/\u202ewrites" }] }),
    "g",
    "https://openrouter.ai/api/v1",
    known,
  );
  expect(listed.all("llms")).toMatchObject([{ name: "x/writes", max_output_tokens: 9, supports_vision: false }]);
  expect(listed.notes).toEqual([
    "[0]: has no id",
    "[1] (x/draws): does not answer with text; add it by hand",
    "[3]: its id must have no control characters and none that turn the direction of text around, and it was left out",
    'no price is known for "x/writes": their calls cost nothing in budgets until it is set',
  ]);
});

test("the address of a model list must be one that a provider record accepts", async () => {
  for (const url of [
    "ftp://models.example/v1",
    "https://user:hunter2@models.example/v1",
    "https://models.example/v1?key=hunter2",
    "models.example",
  ])
    await expect(importModelList('["m"]', "g", url, known)).rejects.toThrow(
      "--url must be an address such as https://openrouter.ai/api/v1",
    );
});

test("names that a record does not accept are reported and left out, so that the file can be applied", async () => {
  const item = (model_name: string, upstream: string) => ({ model_name, litellm_params: { model: upstream } });
  const model_list = [
    item("", "openai/gpt-4o"),
    item("a", " "),
    item("\u202eb", "openai/gpt-4o"),
    item("c".repeat(201), "openai/gpt-4o"),
    item("模型", "openai/gpt-4o"),
  ];
  const { of, into } = await imported(JSON.stringify({ model_list }));
  expect(of("llms", "name")).toEqual(["模型"]);
  expect(into.notes).toEqual([
    "model_list[0] (): has no model_name or no litellm_params.model, and was left out",
    "model_list[1] (a): has no model_name or no litellm_params.model, and was left out",
    "model_list[2]: its model_name must have no control characters and none that turn the direction of text around, and it was left out",
    "model_list[3]: its model_name is longer than 200 characters, and it was left out",
  ]);
});

test("included files are merged as in LiteLLM: lists are appended, other sections are replaced", async () => {
  const files: Record<string, string> = {
    "models.yaml":
      "model_list: [{ model_name: two, litellm_params: { model: openai/gpt-4o-mini } }]\nrouter_settings: { num_retries: 1 }\n",
  };
  const config =
    "include: [models.yaml]\nmodel_list: [{ model_name: one, litellm_params: { model: openai/gpt-4o } }]\nlitellm_settings: { fallbacks: [{ one: [two] }] }\n";
  const into = await importLitellm(config, "moved", {}, known, (name) => files[name] ?? "");
  expect(into.all("llms").map(({ name }) => name)).toEqual(["one at openai", "one falls back to two", "two"]);
  expect(into.all("routing_groups")).toMatchObject([{ id: "one", num_retries: 1 }]);
  expect(into.notes).toEqual([]);
});

test("a Portkey config uses the Azure deployment as the model, and the default target of its conditions first", async () => {
  const into = await importPortkey(
    JSON.stringify({
      strategy: { mode: "conditional", conditions: [], default: "small" },
      input_guardrails: ["pg-1"],
      targets: [
        { name: "big", provider: "openai", retry: { attempts: 2, on_status_codes: [429] }, override_params: { model: "gpt-4o" } },
        {
          name: "small",
          provider: "azure-openai",
          resource_name: "corp",
          deployment_id: "mini-eu",
          override_params: { model: "gpt-4o-mini" },
        },
      ],
    }),
    "moved",
    "c",
    known,
  );
  expect(into.all("llms")).toMatchObject([
    { name: "c at azure-openai", model_name: "mini-eu", routing_weight: 2 },
    { name: "c at openai", model_name: "gpt-4o", routing_weight: 1 },
  ]);
  const told = into.notes.join("\n");
  expect(told).toContain('"small" first');
  expect(told).toContain("input_guardrails: make a guardrail configuration");
  expect(told).toContain("targets[0].retry.on_status_codes: ");
});

test("an SSE tool server is imported like a streamable HTTP one, and a stdio server is reported", async () => {
  const { of, notes } = await imported(`mcp_servers:
  github: { url: "https://mcp.test/sse", transport: sse }
  docs: { url: "https://docs.test/mcp", transport: http }
  local: { transport: stdio, command: npx }
`);
  expect(of("mcp_servers", "base_url")).toEqual(["https://mcp.test", "https://docs.test"]);
  expect(of("mcp_servers", "mcp_endpoint_path")).toEqual(["/sse", "/mcp"]);
  expect(notes).toContain("mcp_servers.local: only servers that are reached over HTTP are called, so one of stdio was left out");
});

test("every section without an equivalent is reported", async () => {
  const sections = ["callback_settings", "assistant_settings", "finetune_settings", "files_settings", "prompts", "unheard_of"];
  const { notes } = await imported(`model_list: []\n${sections.map((name) => `${name}: { a: { b: 1 } }\n`).join("")}`);
  for (const section of sections) expect(notes).toContain(`${section}: `);
  expect(notes).toContain("unheard_of: is not known and was left out");
});

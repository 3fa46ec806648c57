import { describe, expect, test } from "bun:test";
import { KINDS } from "../configuration/kinds.ts";
import type { ConfigEntry } from "../configuration/value.ts";
import { importLitellm } from "./litellm.ts";
import { importPortkey } from "./portkey.ts";

function imported(text: string, env: Record<string, string> = {}) {
  const into = importLitellm(text, "moved", env);
  const of = (section: string, member: string) => into.all(section).map((entry: ConfigEntry) => entry[member]);
  return { into, of, notes: into.notes.join("\n"), file: into.file(KINDS.map(({ section }) => section)) };
}

const model = (name: string, params: string, info = "{}") =>
  `  - { model_name: "${name}", litellm_params: { ${params} }, model_info: ${info} }\n`;

describe("an address that stands in a variable", () => {
  const text = `environment_variables: { OURS_BASE: "http://gpu.internal:8000/v1" }
model_list:
${model("azure", "model: azure/prod, api_base: os.environ/AZURE_BASE, api_key: os.environ/AZURE_KEY")}${model("ours", "model: openai/llama, api_base: os.environ/OURS_BASE, api_key: os.environ/OURS_KEY")}${model("nova", "model: bedrock/amazon.nova-pro-v1:0, aws_region_name: os.environ/REGION")}${model("gemini", "model: vertex_ai/gemini-2.5-pro, vertex_project: os.environ/PROJECT, vertex_location: us-east5")}mcp_servers: { zapier: { url: os.environ/ZAPIER_URL }, odd: { url: "not a url" } }
`;

  test("is what the variable holds where the import runs, or what the file sets it to", () => {
    const env = {
      AZURE_BASE: "https://r.openai.azure.com",
      REGION: "eu-west-1",
      PROJECT: "p1",
      ZAPIER_URL: "https://z.test/mcp?key=s3cret",
    };
    const { of, notes, file } = imported(text, { ...env, AZURE_KEY: "sk-azure-value" });
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

  test("is never the vendor's own where it is not set: the model is left out, and the note names both", () => {
    const { of, notes } = imported(text.replace(/^environment_variables.*\n/, ""));
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

test("two accounts are never one, and one is not two", () => {
  const aws = (id: string) => `model: bedrock/amazon.nova-lite-v1:0, aws_region_name: us-east-1, aws_access_key_id: os.environ/${id}`;
  const vertex = (file: string) => `model: vertex_ai/gemini-2.5-pro, vertex_location: global, vertex_credentials: ${file}`;
  const literal = (key: string) => `model: openai/x, api_base: "http://10.0.0.1/v1", api_key: ${key}`;
  const { of } = imported(
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
  const ported = importPortkey(portkey, "moved", "c");
  expect(ported.all("llms").map((entry) => entry["provider"])).toEqual(["openai", "openai-2", "openai"]);
  expect([...ported.variables.keys()]).toEqual(["OPENAI_API_KEY", "OPENAI_API_KEY_2"]);
});

test("shares of deployments stay what they are", () => {
  const shares = (...params: string[]) =>
    imported(`model_list:\n${params.map((each, n) => model("m", `model: openai/m${n}, ${each}`)).join("")}`).of("llms", "routing_weight");
  expect(shares("weight: 0.9", "weight: 0.1")).toEqual([9, 1]);
  expect(shares("weight: 2", "weight: 0.25", "weight: 0")).toEqual([200, 25, 0]);
  expect(shares("rpm: 500", "rpm: 1500")).toEqual([500, 1500]);
  expect(shares("weight: 3", "weight: 3")).toEqual([undefined, undefined]);
  expect(shares("order: 1", "order: 2")).toEqual([2, 1]);
});

test("an entry that leaves its mode to LiteLLM's list of models has that of its name, or the catalog's", () => {
  const { of, notes } = imported(
    `model_list:\n${["text-embedding-3-small", "whisper-1", "tts-1", "gpt-image-1", "gpt-5"].map((name) => model(name, `model: openai/${name}`)).join("")}${model("ada", "model: openai/our-deployment", "{ base_model: azure/text-embedding-ada-002 }")}${model("rerank", "model: cohere/rerank-v3.5")}`,
  );
  expect(of("llms", "modes")).toEqual([["embedding"], ["audio_transcription"], ["audio_speech"], ["image"], undefined, ["embedding"]]);
  expect(notes).toContain("models of the mode rerank are not served");
});

test("numbers that are text, aliases and rates that stand in several records", () => {
  const { into, of, notes } = imported(`model_list:
${model("gpt-4", "model: openai/gpt-4")}${model("gpt-4o", "model: openai/gpt-4o, rpm: 5")}${model("o1", "model: openai/o1")}router_settings: { num_retries: "4", timeout: soon, model_group_alias: { gpt-4: gpt-4o, fast: gpt-4o }, fallbacks: [{ o1: [fast] }] }
litellm_settings: { max_budget: "12.5", budget_duration: 30d }
`);
  expect(into.all("resource_groups")).toEqual([{ name: "moved", llm_global_limits: { budget: { monthly_limit_usd: 12.5 } } }]);
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

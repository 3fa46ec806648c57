import { expect, test } from "bun:test";
import { guardrailConfigCreate } from "@gatehouse/contracts/guardrails";
import { catalogMembers } from "../../directory/models/catalog/fill.ts";
import type { ConfigEntry } from "../configuration/value.ts";
import { importLitellm } from "./litellm.ts";
import type { KnownFacts } from "./litellm-catalog.ts";

const known: KnownFacts = (place, name, given) => catalogMembers(place, name, given, new Date("2026-11-01T00:00:00Z"));

async function imported(guardrails: string, env: Record<string, string> = {}) {
  const into = await importLitellm(`model_list: []\nguardrails:\n${guardrails}`, "moved", env, known);
  return { configs: into.all("guardrail_configs"), notes: into.notes.join("\n"), variables: into.variables };
}

const guardrail = (name: string, params: string) => `  - { guardrail_name: ${name}, litellm_params: { ${params} } }\n`;

/** As the admin API would receive it. */
const isAccepted = (config: ConfigEntry) =>
  guardrailConfigCreate.safeParse(JSON.parse(JSON.stringify({ ...config, group_ids: null }).replaceAll(/\{"from_env":"[^"]*"\}/g, '"key"')))
    .success;

test("guardrails of LiteLLM become guardrail configurations of the group", async () => {
  const { configs, notes, variables } = await imported(
    guardrail("pii", "guardrail: presidio, mode: [pre_call, post_call], default_on: true") +
      guardrail("hide", "guardrail: hide-secrets, mode: pre_mcp_call, default_on: true") +
      guardrail("mod", "guardrail: openai_moderation, mode: during_call, default_on: true, api_key: os.environ/MODERATION_KEY") +
      guardrail(
        "aws",
        "guardrail: bedrock, mode: post_call, default_on: true, guardrailIdentifier: ff6u, guardrailVersion: 3, aws_region_name: eu-west-1",
      ) +
      guardrail("shield", "guardrail: azure/prompt_shield, default_on: true, api_base: os.environ/SHIELD, api_key: plain-secret"),
    { SHIELD: "https://shield.cognitiveservices.azure.com" },
  );
  const requests = { chat_input: true, embeddings_input: true, image_gen_input: true, audio_tts_input: true };
  expect(configs).toEqual([
    {
      name: "pii",
      group_ids: ["moved"],
      surfaces: { ...requests, chat_output: true },
      builtin: { pii_enabled: true, pii_action: "redact" },
    },
    { name: "hide", group_ids: ["moved"], surfaces: { mcp_input: true }, builtin: { secrets_enabled: true, secrets_action: "redact" } },
    {
      name: "mod",
      group_ids: ["moved"],
      surfaces: requests,
      providers: [{ provider: "openai_moderation", model: null, endpoint: null, api_key: { from_env: "MODERATION_KEY" } }],
    },
    {
      name: "aws",
      group_ids: ["moved"],
      surfaces: { chat_output: true },
      providers: [
        {
          provider: "bedrock_guardrails",
          endpoint: "https://bedrock-runtime.eu-west-1.amazonaws.com",
          identifier: "ff6u",
          version: "3",
          api_key: { from_env: "BEDROCK_GUARDRAIL_CREDENTIALS" },
        },
      ],
    },
    {
      name: "shield",
      group_ids: ["moved"],
      surfaces: requests,
      providers: [
        { provider: "azure_content_safety", endpoint: "https://shield.cognitiveservices.azure.com", api_key: { from_env: "SHIELD_KEY" } },
      ],
    },
  ]);
  expect(configs.filter((config) => !isAccepted(config))).toEqual([]);
  expect([...variables.keys()]).toEqual(["MODERATION_KEY", "BEDROCK_GUARDRAIL_CREDENTIALS", "SHIELD_KEY"]);
  expect(notes).not.toContain("plain-secret");
});

test("entities that are masked and blocked become two configurations, and unknown ones are reported", async () => {
  const { configs, notes } = await imported(
    guardrail(
      "pii",
      "guardrail: presidio, mode: pre_call, default_on: true, output_parse_pii: true, pii_entities_config: { EMAIL_ADDRESS: MASK, UK_NHS: MASK, CREDIT_CARD: BLOCK, US_SSN: BLOCK, PERSON: MASK }",
    ) + guardrail("people", "guardrail: presidio, mode: pre_call, default_on: true, pii_entities_config: { PERSON: MASK }"),
  );
  expect(configs.map(({ name, builtin }) => [name, builtin])).toEqual([
    ["pii (redact)", { pii_enabled: true, pii_action: "redact", pii_restore: true, pii_categories: ["email", "uk_nhs"] }],
    ["pii (block)", { pii_enabled: true, pii_action: "block", pii_categories: ["credit_card", "ssn"] }],
  ]);
  expect(notes).toContain('guardrails "pii".pii_entities_config.PERSON: is not found by the built-in check');
  expect(notes).toContain('guardrails "people".pii_entities_config.PERSON: ');
  expect(notes).not.toContain("output_parse_pii");
});

test("personal data stays with Presidio where its analyzer is known", async () => {
  const params = "guardrail: presidio, mode: pre_call, default_on: true";
  const given = await imported(
    guardrail(
      "named",
      `${params}, presidio_analyzer_api_base: "http://presidio:5002", presidio_language: de, presidio_score_thresholds: { ALL: 0.7, PERSON: 0.9 }, output_parse_pii: true, pii_entities_config: { PERSON: MASK, LOCATION: MASK, CREDIT_CARD: BLOCK }`,
    ) +
      guardrail("of the environment", params) +
      guardrail("unset", `${params}, presidio_analyzer_api_base: os.environ/NOWHERE`),
    { PRESIDIO_ANALYZER_API_BASE: "http://analyzer:3000" },
  );
  const engine = { provider: "presidio", endpoint: "http://presidio:5002", language: "de", threshold: 0.7 };
  expect(given.configs.map(({ name, builtin, providers }) => [name, builtin, providers])).toEqual([
    [
      "named",
      { pii_restore: true },
      [
        { ...engine, action: "redact", entities: ["PERSON", "LOCATION"] },
        { ...engine, action: "block", entities: ["CREDIT_CARD"] },
      ],
    ],
    ["of the environment", undefined, [{ provider: "presidio", endpoint: "http://analyzer:3000", action: "redact" }]],
    ["unset", { pii_enabled: true, pii_action: "redact" }, undefined],
  ]);
  expect(given.configs.filter((config) => !isAccepted(config))).toEqual([]);
  expect(given.notes).toContain("presidio_score_thresholds: an engine has one threshold");
  expect(given.notes).toContain("the variable NOWHERE is not set");
});

test("a guardrail that callers choose is imported switched off, and what has no equivalent is reported", async () => {
  const { configs, notes } = await imported(
    guardrail("chosen", "guardrail: hide-secrets, mode: pre_call") +
      guardrail("usual", "guardrail: openai_moderation, mode: pre_call, default_on: true") +
      guardrail("lakera", "guardrail: lakera_v2, mode: pre_call, default_on: true") +
      guardrail("logs", "guardrail: presidio, mode: logging_only, default_on: true") +
      guardrail("nowhere", "guardrail: azure/text_moderations, mode: pre_call, api_base: os.environ/UNSET") +
      guardrail("unnamed", "guardrail: bedrock, mode: pre_call, guardrailIdentifier: os.environ/UNSET_ID"),
  );
  expect(configs).toMatchObject([
    { name: "chosen", enabled: false },
    { name: "usual", providers: [{ api_key: { from_env: "OPENAI_API_KEY" } }] },
  ]);
  expect(configs).toHaveLength(2);
  expect(notes).toContain('guardrails "chosen": callers choose it with each request');
  expect(notes).toContain('guardrails "lakera": make a guardrail configuration');
  expect(notes).toContain('guardrails "logs": make a guardrail configuration');
  expect(notes).toContain('guardrails "nowhere": was left out, because its address is not known: the variable UNSET is not set');
  expect(notes).toContain('guardrails "unnamed": was left out, because its guardrailIdentifier is not known: the variable UNSET_ID');
});

import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import { numberWritten, priceWritten, wholeWritten } from "./litellm-numbers.ts";
import { providerAt } from "./litellm-place.ts";
import { providerOfPlainName } from "./litellm-providers.ts";
import { notSet, type Variables } from "./litellm-variables.ts";
import { whyNoName } from "./written-names.ts";

/** One entry of `model_list`. */
export interface Deployment {
  readonly publicName: string;
  /** The key of its provider. */
  readonly provider: string;
  /** The members for the model's record. */
  readonly model: ConfigEntry;
  /** Candidates for LiteLLM's weight among deployments of one name: the first of these that the first deployment has is used. */
  readonly weights: readonly (number | null)[];
  readonly order: number | null;
  /** The model behind the provider's name for it, in LiteLLM's naming, if the file says so. */
  readonly base: string | null;
  /** How notes refer to the entry. */
  readonly at: string;
}

const MODES: Readonly<Record<string, string>> = {
  chat: "chat",
  completion: "completion",
  responses: "responses",
  embedding: "embedding",
  image_generation: "image",
  audio_transcription: "audio_transcription",
  audio_speech: "audio_speech",
  video_generation: "video",
  moderation: "moderation",
  rerank: "rerank",
  realtime: "realtime",
};

const TOKEN_PRICES = [
  ["input_cost_per_million_tokens", "input_cost_per_token"],
  ["output_cost_per_million_tokens", "output_cost_per_token"],
  ["cache_read_cost_per_million_tokens", "cache_read_input_token_cost"],
  ["cache_write_cost_per_million_tokens", "cache_creation_input_token_cost"],
] as const;
/** LiteLLM's prices for a given number of uses. */
const TOOL_PRICES = [
  ["file_search", "file_search_cost_per_1k_calls", 1_000],
  ["code_interpreter", "code_interpreter_cost_per_session", 1],
] as const;
/** LiteLLM has a separate price member for each of them. */
const SERVICE_TIERS = ["priority", "flex", "ultrafast"] as const;
const PRICES_READ = TOKEN_PRICES.flatMap(([, theirs]) => [theirs, ...SERVICE_TIERS.map((tier) => `${theirs}_${tier}`)]);

/** Members that are expressed differently in a model's or provider's record, or handled with the entry. */
const READ = new Set<string>([
  "model",
  "api_base",
  "base_url",
  "api_key",
  "api_version",
  "organization",
  "extra_headers",
  "headers",
  "rpm",
  "tpm",
  "weight",
  "order",
  "max_parallel_requests",
  "temperature",
  "max_tokens",
  ...PRICES_READ,
  "input_cost_per_query",
  ...TOOL_PRICES.map(([, theirs]) => theirs),
  "aws_access_key_id",
  "aws_secret_access_key",
  "aws_session_token",
  "aws_region_name",
  "aws_bedrock_runtime_endpoint",
  "vertex_project",
  "vertex_location",
  "vertex_credentials",
  "litellm_credential_name",
  "custom_llm_provider",
  "region_name",
  "drop_params",
]);
const READ_ITEM = new Set(["model_name", "litellm_params", "model_info"]);
const READ_INFO = new Set<string>([
  "id",
  "mode",
  "base_model",
  ...PRICES_READ,
  "input_cost_per_query",
  ...TOOL_PRICES.map(([, theirs]) => theirs),
  "max_tokens",
  "max_input_tokens",
  "max_output_tokens",
  "supports_vision",
  "supports_function_calling",
  "description",
  "db_model",
]);

const A_TIMEOUT = "a routing group has a timeout for each attempt; GW_UPSTREAM_TIMEOUT_SECONDS is that of all others";
const A_BUDGET = "set it as the budget of this model in the resource group (docs/guides/limits.md)";
const AN_ACCOUNT = "give the keys of the account; roles are not assumed and profiles not read";
const AN_APPLICATION = "give a key of the resource; tokens of Entra ID are not fetched";
const OF_THE_CALLER = "callers send it; only default_temperature, default_max_tokens and system_prompt are set for them";

/** The equivalent here of members that no record has. */
const ANSWERED_BY_OTHERS: Readonly<Record<string, string>> = {
  timeout: A_TIMEOUT,
  stream_timeout: A_TIMEOUT,
  max_retries: "a routing group has num_retries",
  max_budget: A_BUDGET,
  budget_duration: A_BUDGET,
  tenant_id: AN_APPLICATION,
  client_id: AN_APPLICATION,
  client_secret: AN_APPLICATION,
  azure_ad_token: AN_APPLICATION,
  aws_profile_name: AN_ACCOUNT,
  aws_role_name: AN_ACCOUNT,
  aws_session_name: AN_ACCOUNT,
  aws_web_identity_token: AN_ACCOUNT,
  reasoning_effort: OF_THE_CALLER,
  thinking: OF_THE_CALLER,
  top_p: OF_THE_CALLER,
  stop: OF_THE_CALLER,
  team_id: "grant the model to the resource group of that team alone (group_ids)",
  access_groups: "grant the model to a resource group for each (group_ids)",
  additional_drop_params: "parameters that a provider does not take are dropped and named in x-gw-dropped-parameters",
};

/** Modes from LiteLLM's own list of models, for entries that do not state theirs. */
const MODES_BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/rerank/, "rerank"],
  [/embed|^voyage-|(^|\/)(bge|e5|gte)-/, "embedding"],
  [/moderation/, "moderation"],
  [/(^|\/)(gpt-image|dall-e|imagen|flux|stable-diffusion)/, "image_generation"],
  [/transcribe|whisper/, "audio_transcription"],
  [/(^|[/-])tts(-|$)/, "audio_speech"],
  [/(^|\/)(veo|sora)-/, "video_generation"],
];

/** Null if nothing here could serve it; the notes say why. */
export function readDeployment(
  item: ConfigEntry,
  place: string,
  config: ConfigEntry,
  variables: Variables,
  into: Imported,
): Deployment | null {
  const publicName = item["model_name"];
  const at = typeof publicName === "string" ? `${place} (${publicName})` : place;
  const own = isConfigEntry(item["litellm_params"]) ? item["litellm_params"] : {};
  const { found: params, unset } = variables.resolved(withUsualAddress({ ...credentialOf(own, config, at, into), ...own }, config));
  const info = isConfigEntry(item["model_info"]) ? item["model_info"] : {};
  const upstream = params["model"];
  const unsetModel = unset.get("model");
  if (unsetModel !== undefined) {
    into.note(`${at}.litellm_params.model: ${notSet(unsetModel)}`);
    return null;
  }
  if (typeof publicName !== "string" || typeof upstream !== "string" || publicName.trim() === "" || upstream.trim() === "") {
    into.note(`${at}: has no model_name or no litellm_params.model, and was left out`);
    return null;
  }
  const refused = whyNoName(publicName);
  if (refused !== null) {
    into.note(`${place}: its model_name ${refused}, and it was left out`);
    return null;
  }
  if (publicName.includes("*") || upstream.includes("*")) {
    into.note(`${at}: a wildcard has no equivalent, every model is a record of its own; list the models you use`);
    return null;
  }
  const { prefix, name, region } = splitModel(upstream, params["custom_llm_provider"]);
  const placed = region === null ? params : { aws_region_name: region, ...params };
  const provider = providerAt(prefix, { params: placed, unset, at, place }, variables, into);
  if (provider === null) return null;
  const mode = modeOf(info, name);
  if (mode === null) {
    into.note(`${at}: models of the mode ${String(info["mode"])} are not served, so it was left out`);
    return null;
  }
  for (const member of Object.keys(params).filter((one) => !READ.has(one)))
    if (!unset.has(member)) into.note(`${at}.litellm_params.${member}: ${ANSWERED_BY_OTHERS[member] ?? "has no equivalent"}`);
  // Unset variables of members that are not imported are not worth a note of their own.
  for (const [member, variable] of unset)
    into.note(
      `${at}.litellm_params.${member}: ${READ.has(member) ? notSet(variable) : (ANSWERED_BY_OTHERS[member] ?? "has no equivalent")}`,
    );
  for (const member of Object.keys(info))
    if (!READ_INFO.has(member)) into.note(`${at}.model_info.${member}: ${ANSWERED_BY_OTHERS[member] ?? "has no equivalent"}`);
  for (const member of Object.keys(item)) if (!READ_ITEM.has(member)) into.note(`${at}.${member}: is not known and was left out`);
  return {
    publicName,
    provider,
    model: { model_name: name, ...(mode === undefined ? {} : { modes: [mode] }), ...settingsOf(params, info) },
    weights: [params["weight"], params["rpm"], params["tpm"]].map(numberWritten),
    order: numberWritten(params["order"]),
    base: typeof info["base_model"] === "string" ? info["base_model"] : null,
    at,
  };
}

/** Null if the mode is not served; undefined to use the gateway's own catalog. */
function modeOf(info: ConfigEntry, name: string): string | null | undefined {
  const given = info["mode"];
  const base = typeof info["base_model"] === "string" ? info["base_model"] : name;
  const mode = typeof given === "string" ? given : MODES_BY_NAME.find(([pattern]) => pattern.test(base.toLowerCase()))?.[1];
  return mode === undefined ? undefined : (MODES[mode] ?? null);
}

interface UpstreamModel {
  readonly prefix: string;
  readonly name: string;
  /** If the name contains it: `bedrock/us-west-2/...`. */
  readonly region: string | null;
}

export function splitModel(model: string, given: ConfigValue | undefined): UpstreamModel {
  const [prefix = "", ...rest] = model.split("/");
  if (typeof given === "string") return { prefix: given, name: prefix === given ? rest.join("/") : model, region: null };
  if (rest.length === 0) return { prefix: providerOfPlainName(model), name: model, region: null };
  // `bedrock/converse/...` and `azure/o_series/...` choose an API, which the gateway decides itself.
  const name = rest.join("/").replace(/^(?:converse|invoke|responses|o_series|gpt5_series)\//, "");
  const region = prefix === "bedrock" ? (/^([a-z]{2}(?:-[a-z]+)+-\d)\//.exec(name)?.[1] ?? null) : null;
  return { prefix, name: region === null ? name : name.slice(region.length + 1), region };
}

/** Only Bedrock does not use the common address. */
function withUsualAddress(params: ConfigEntry, { litellm_settings: settings }: ConfigEntry): ConfigEntry {
  const usual = isConfigEntry(settings) ? settings["api_base"] : undefined;
  const hasOwn = (params["api_base"] ?? params["base_url"]) != null || String(params["model"]).startsWith("bedrock/");
  return usual === undefined || hasOwn ? params : { ...params, api_base: usual };
}

function credentialOf(params: ConfigEntry, config: ConfigEntry, at: string, into: Imported): ConfigEntry {
  const name = params["litellm_credential_name"];
  if (typeof name !== "string") return {};
  const all = Array.isArray(config["credential_list"]) ? config["credential_list"].filter(isConfigEntry) : [];
  const found = all.find((one) => one["credential_name"] === name);
  if (found === undefined) into.note(`${at}: the credential "${name}" is not in the file; give its provider a key by hand`);
  return isConfigEntry(found?.["credential_values"]) ? found["credential_values"] : {};
}

/** Null if the tier has no price of its own. */
function serviceTierOf(tier: string, written: ConfigEntry): ConfigEntry | null {
  const prices = TOKEN_PRICES.flatMap(([ours, theirs]) => {
    const price = priceWritten(written[`${theirs}_${tier}`]);
    return price === null ? [] : [[ours, price] as const];
  });
  return prices.length === 0 ? null : { service_tier: tier, ...Object.fromEntries(prices) };
}

function settingsOf(params: ConfigEntry, info: ConfigEntry): ConfigEntry {
  const found: Record<string, ConfigValue> = {};
  const set = (member: string, value: number | null): void => {
    if (value !== null) found[member] = value;
  };
  set("default_temperature", numberWritten(params["temperature"]));
  set("default_max_tokens", wholeWritten(params["max_tokens"]));
  set("rate_limit_rpm", wholeWritten(params["rpm"]));
  set("rate_limit_tpm", wholeWritten(params["tpm"]));
  set("max_concurrent_requests", wholeWritten(params["max_parallel_requests"]));
  set("context_window", wholeWritten(info["max_input_tokens"]));
  set("max_output_tokens", wholeWritten(info["max_output_tokens"] ?? info["max_tokens"]));
  for (const [ours, theirs] of TOKEN_PRICES) set(ours, priceWritten(params[theirs] ?? info[theirs]));
  const tiers = SERVICE_TIERS.flatMap((tier) => serviceTierOf(tier, { ...info, ...params }) ?? []);
  if (tiers.length > 0) found["service_tier_prices"] = tiers;
  const query = numberWritten(params["input_cost_per_query"] ?? info["input_cost_per_query"]);
  set("search_unit_cost_per_thousand", query === null ? null : Math.round(query * 1e12) / 1e9);
  const tools = TOOL_PRICES.flatMap(([tool, theirs, uses]) => {
    const usd = numberWritten(params[theirs] ?? info[theirs]);
    return usd === null ? [] : [{ tool, usd_per_thousand: Math.round((usd / uses) * 1e12) / 1e9 }];
  });
  if (tools.length > 0) found["tool_prices"] = tools;
  if (typeof info["supports_vision"] === "boolean") found["supports_vision"] = info["supports_vision"];
  if (typeof info["supports_function_calling"] === "boolean") found["supports_tools"] = info["supports_function_calling"];
  if (typeof info["description"] === "string") found["description"] = info["description"];
  return found;
}

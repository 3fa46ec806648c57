import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import { keyFor, variableOf } from "./written-names.ts";
import { LITELLM_PROVIDERS, providerOfPlainName } from "./litellm-providers.ts";

/** One entry of `model_list`. */
export interface Deployment {
  readonly publicName: string;
  /** The key of the provider it is at. */
  readonly provider: string;
  /** What a model's record says of it. */
  readonly model: ConfigEntry;
  readonly weight: number | null;
  readonly order: number | null;
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
};

/** Said by a model's or a provider's record in another way, or handled with the entry. */
const READ = new Set([
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
  "input_cost_per_token",
  "output_cost_per_token",
  "cache_read_input_token_cost",
  "cache_creation_input_token_cost",
  "aws_access_key_id",
  "aws_secret_access_key",
  "aws_session_token",
  "aws_region_name",
  "vertex_project",
  "vertex_location",
  "vertex_credentials",
  "litellm_credential_name",
  "custom_llm_provider",
  "region_name",
  "drop_params",
]);
const READ_INFO = new Set([
  "id",
  "mode",
  "base_model",
  "input_cost_per_token",
  "output_cost_per_token",
  "cache_read_input_token_cost",
  "cache_creation_input_token_cost",
  "max_tokens",
  "max_input_tokens",
  "max_output_tokens",
  "supports_vision",
  "supports_function_calling",
  "description",
  "db_model",
]);

/** Null where there is nothing here that could serve it; why is among the notes. */
export function readDeployment(item: ConfigEntry, at: string, config: ConfigEntry, into: Imported): Deployment | null {
  const publicName = item["model_name"];
  const given = isConfigEntry(item["litellm_params"]) ? item["litellm_params"] : {};
  const params = { ...credentialOf(given, config, at, into), ...given };
  const info = isConfigEntry(item["model_info"]) ? item["model_info"] : {};
  const upstream = params["model"];
  if (typeof publicName !== "string" || typeof upstream !== "string") {
    into.note(`${at}: has no model_name or no litellm_params.model, and was left out`);
    return null;
  }
  if (publicName.includes("*") || upstream.includes("*")) {
    into.note(`${at} (${publicName}): a wildcard has no equal, every model is a record of its own; list the models you use`);
    return null;
  }
  for (const name of Object.keys(params)) if (!READ.has(name)) into.note(`${at}.litellm_params.${name}: has no equal`);
  for (const name of Object.keys(info)) if (!READ_INFO.has(name)) into.note(`${at}.model_info.${name}: has no equal`);
  const { prefix, name } = splitModel(upstream, params["custom_llm_provider"]);
  const provider = providerOf(prefix, params, at, into);
  if (provider === null) return null;
  const mode = typeof info["mode"] === "string" ? MODES[info["mode"]] : "chat";
  if (mode === undefined) {
    into.note(`${at} (${publicName}): models of the mode ${String(info["mode"])} are not served`);
    return null;
  }
  return {
    publicName,
    provider,
    model: { model_name: name, modes: [mode], ...settingsOf(params, info, at, into) },
    weight: wholeOf(params["weight"]),
    order: numberOf(params["order"]),
  };
}

function splitModel(model: string, given: ConfigValue | undefined): { readonly prefix: string; readonly name: string } {
  const [prefix = "", ...rest] = model.split("/");
  if (typeof given === "string") return { prefix: given, name: prefix === given ? rest.join("/") : model };
  if (rest.length === 0) return { prefix: providerOfPlainName(model), name: model };
  // `bedrock/converse/...` names how it is to be asked, which is ours to know.
  const name = rest.join("/").replace(/^(?:converse|invoke)\//, "");
  return { prefix, name };
}

function credentialOf(params: ConfigEntry, config: ConfigEntry, at: string, into: Imported): ConfigEntry {
  const name = params["litellm_credential_name"];
  if (typeof name !== "string") return {};
  const all = Array.isArray(config["credential_list"]) ? config["credential_list"].filter(isConfigEntry) : [];
  const found = all.find((one) => one["credential_name"] === name);
  if (found === undefined) into.note(`${at}: the credential "${name}" is not in the file; give its provider a key by hand`);
  return isConfigEntry(found?.["credential_values"]) ? found["credential_values"] : {};
}

/** The key of the provider's record, made when no entry before was at the same place with the same credential. */
function providerOf(prefix: string, params: ConfigEntry, at: string, into: Imported): string | null {
  const known = LITELLM_PROVIDERS[prefix];
  if (known === undefined) {
    into.note(`${at}: there is no provider here for "${prefix}"; if it speaks OpenAI's API, add it by hand`);
    return null;
  }
  const baseUrl = baseUrlOf(prefix, params);
  if (baseUrl === null) {
    into.note(`${at}: its address is not in the file (api_base, aws_region_name or vertex_location), so it was left out`);
    return null;
  }
  const record: Record<string, ConfigValue> = { api_format: known.format, base_url: baseUrl };
  const headers = isConfigEntry(params["extra_headers"])
    ? params["extra_headers"]
    : isConfigEntry(params["headers"])
      ? params["headers"]
      : {};
  const organization = params["organization"];
  const sent = {
    ...headers,
    ...(typeof organization === "string" ? { "openai-organization": plain(organization, `${at}.organization`, into) } : {}),
  };
  if (Object.keys(sent).length > 0) record["headers"] = sent;
  const key = keyFor(prefix.replaceAll("_", "-"));
  const secret = secretOf(known.format, prefix, params, known.keyVariable, at, into);
  if (secret !== null) record["api_key"] = secret;
  for (let n = 1; ; n++) {
    const name = n === 1 ? key : `${key}-${n}`;
    const there = into.find("providers", name);
    if (there === undefined) {
      into.add("providers", name, { provider_key: name, ...record });
      return name;
    }
    if (JSON.stringify(there) === JSON.stringify({ provider_key: name, ...record })) return name;
  }
}

/** Null: it cannot be known. */
function baseUrlOf(prefix: string, params: ConfigEntry): string | null {
  const known = LITELLM_PROVIDERS[prefix];
  const given = params["api_base"] ?? params["base_url"];
  if (typeof given === "string" && !given.startsWith("os.environ/")) {
    const version = params["api_version"];
    if (known?.format === "azure_openai" && typeof version === "string" && /\/deployments\//.test(given))
      return `${given.replace(/\?.*/, "")}?api-version=${version}`;
    // Ollama's own API is asked by LiteLLM, its OpenAI-compatible one by us.
    if (prefix.startsWith("ollama") && !/\/v1\/?$/.test(given)) return `${given.replace(/\/+$/, "")}/v1`;
    return given;
  }
  if (known?.format === "bedrock") {
    const region = params["aws_region_name"] ?? params["region_name"];
    return typeof region === "string" && !region.startsWith("os.environ/") ? `https://bedrock-runtime.${region}.amazonaws.com` : null;
  }
  if (known?.format === "vertex") {
    const { vertex_location: location, vertex_project: project } = params;
    if (typeof location !== "string" || location.startsWith("os.environ/")) return null;
    const host = location === "global" ? "https://aiplatform.googleapis.com" : `https://${location}-aiplatform.googleapis.com`;
    return typeof project === "string" && !project.startsWith("os.environ/")
      ? `${host}/v1/projects/${project}/locations/${location}`
      : host;
  }
  return known?.baseUrl ?? null;
}

/** Where the credential is to come from. What stands in LiteLLM's file as it is does not go into ours. */
function secretOf(
  format: string,
  prefix: string,
  params: ConfigEntry,
  usual: string | null,
  at: string,
  into: Imported,
): ConfigEntry | null {
  if (format === "bedrock") {
    const standsAt = `${at}: AWS_ACCESS_KEY_ID:AWS_SECRET_ACCESS_KEY of the account, with :SESSION_TOKEN where there is one`;
    const own =
      typeof params["aws_access_key_id"] === "string"
        ? variableOf(`${prefix}_${String(params["aws_region_name"] ?? "")}_credentials`)
        : "BEDROCK_CREDENTIALS";
    return into.secret(own, standsAt);
  }
  if (format === "vertex")
    return into.secret("VERTEX_SERVICE_ACCOUNT", `${at}: the JSON key file of the service account, as text or in base64`);
  const given = params["api_key"];
  if (typeof given === "string" && given.startsWith("os.environ/"))
    return into.secret(given.slice("os.environ/".length), "the same variable as today");
  if (typeof given === "string" && given !== "") return into.secret(variableOf(`${prefix}_${at}_api_key`), `${at}.litellm_params.api_key`);
  return usual === null ? null : into.secret(usual, "the same variable as today");
}

function settingsOf(params: ConfigEntry, info: ConfigEntry, at: string, into: Imported): ConfigEntry {
  const found: Record<string, ConfigValue> = {};
  const set = (member: string, value: number | null): void => {
    if (value !== null) found[member] = value;
  };
  set("default_temperature", numberOf(params["temperature"]));
  set("default_max_tokens", wholeOf(params["max_tokens"]));
  set("rate_limit_rpm", wholeOf(params["rpm"]));
  set("rate_limit_tpm", wholeOf(params["tpm"]));
  set("max_concurrent_requests", wholeOf(params["max_parallel_requests"]));
  set("context_window", wholeOf(info["max_input_tokens"]));
  set("max_output_tokens", wholeOf(info["max_output_tokens"] ?? info["max_tokens"]));
  for (const [ours, theirs] of [
    ["input_cost_per_million_tokens", "input_cost_per_token"],
    ["output_cost_per_million_tokens", "output_cost_per_token"],
    ["cache_read_cost_per_million_tokens", "cache_read_input_token_cost"],
    ["cache_write_cost_per_million_tokens", "cache_creation_input_token_cost"],
  ] as const)
    set(ours, priceOf(params[theirs] ?? info[theirs]));
  if (typeof info["supports_vision"] === "boolean") found["supports_vision"] = info["supports_vision"];
  if (typeof info["supports_function_calling"] === "boolean") found["supports_tools"] = info["supports_function_calling"];
  if (typeof info["description"] === "string") found["description"] = info["description"];
  if (info["base_model"] !== undefined)
    into.note(`${at}.model_info.base_model: prices come from the record itself; import the model from the catalog or set them`);
  return found;
}

function plain(text: string, at: string, into: Imported): string {
  if (text.startsWith("os.environ/"))
    into.note(`${at}: is a variable (${text.slice("os.environ/".length)}); write what it holds into the file`);
  return text;
}

function numberOf(value: ConfigValue | undefined): number | null {
  const found = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

function wholeOf(value: ConfigValue | undefined): number | null {
  const found = numberOf(value);
  return found === null || found < 0 ? null : Math.max(1, Math.round(found));
}

/** Dollars for a token as dollars for a million, to the sixth decimal. */
function priceOf(value: ConfigValue | undefined): number | null {
  const found = numberOf(value);
  return found === null ? null : Math.round(found * 1e12) / 1e6;
}

import { readYaml } from "../../runtime/yaml.ts";
import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import { Imported } from "./imported.ts";

/**
 * A list of models as OpenRouter's `/api/v1/models` and the likes of it answer (`{data: [{id, context_length, pricing}]}`), or
 * of their ids alone (`{models: [...]}`, or a plain list): one provider, and a model for each under its id.
 */
export function importModelList(text: string, group: string, baseUrl: string): Imported {
  const parsed: unknown = readYaml(text);
  const given = isConfigEntry(parsed) ? (parsed["data"] ?? parsed["models"]) : parsed;
  if (!Array.isArray(given)) throw new Error("it must be a list of models: {data: [...]}, {models: [...]}, or a list of ids");
  const into = new Imported();
  into.add("resource_groups", group, { name: group });
  const host = new URL(baseUrl).hostname.replace(/^(?:api|www)\./, "");
  const key = host.split(".")[0] ?? host;
  into.add("providers", key, {
    provider_key: key,
    api_format: "openai",
    base_url: baseUrl,
    api_key: into.secret(`${key.toUpperCase()}_API_KEY`, `your key of ${host}`),
  });
  for (const [at, item] of (given as readonly ConfigValue[]).entries()) {
    const entry: ConfigEntry = isConfigEntry(item) ? item : { id: item };
    const { id } = entry;
    if (typeof id !== "string" || id.trim() === "") into.note(`[${at}]: has no id`);
    else if (!answersWithText(entry)) into.note(`[${at}] (${id}): does not answer with text; add it by hand`);
    else into.add("llms", id, { name: id, model_name: id, provider: key, modes: ["chat"], ...factsOf(entry), group_ids: [group] });
  }
  return into;
}

function answersWithText({ architecture }: ConfigEntry): boolean {
  const kinds = isConfigEntry(architecture) ? architecture["output_modalities"] : undefined;
  return !Array.isArray(kinds) || kinds.includes("text");
}

function factsOf(entry: ConfigEntry): ConfigEntry {
  const found: Record<string, ConfigValue> = {};
  if (typeof entry["context_length"] === "number") found["context_window"] = entry["context_length"];
  const most = isConfigEntry(entry["top_provider"]) ? entry["top_provider"]["max_completion_tokens"] : undefined;
  if (typeof most === "number" && most > 0) found["max_output_tokens"] = most;
  const taken = isConfigEntry(entry["architecture"]) ? entry["architecture"]["input_modalities"] : undefined;
  if (Array.isArray(taken)) found["supports_vision"] = taken.includes("image");
  if (Array.isArray(entry["supported_parameters"])) found["supports_tools"] = entry["supported_parameters"].includes("tools");
  const pricing = isConfigEntry(entry["pricing"]) ? entry["pricing"] : {};
  for (const [ours, theirs] of [
    ["input_cost_per_million_tokens", "prompt"],
    ["output_cost_per_million_tokens", "completion"],
    ["cache_read_cost_per_million_tokens", "input_cache_read"],
    ["cache_write_cost_per_million_tokens", "input_cache_write"],
  ] as const) {
    // Dollars for a token. A price below nothing says that it depends.
    const price = Number(pricing[theirs] ?? Number.NaN);
    if (price >= 0) found[ours] = Math.round(price * 1e12) / 1e6;
  }
  return found;
}

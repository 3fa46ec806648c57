import { isWebAddress } from "../../kernel/http/web-address.ts";
import { readYaml } from "../../runtime/yaml.ts";
import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import { Imported, quotedNames } from "./imported.ts";
import type { KnownFacts } from "./litellm-catalog.ts";
import { keyFor, variableOf, whyNoName } from "./written-names.ts";

const READ = new Set(["data", "models", "object", "has_more", "first_id", "last_id"]);
/** Prices that the gateway supports. Web searches are priced like its own. */
const PRICED = new Set(["prompt", "completion", "input_cache_read", "input_cache_write", "web_search", "discount"]);

/**
 * Converts a model list like that of OpenRouter's `/api/v1/models` (`{data: [{id, context_length, pricing}]}`), or a list of IDs (`{models:
 * [...]}` or a plain list): one provider, and a model for each entry under its ID.
 */
export async function importModelList(text: string, group: string, baseUrl: string, known: KnownFacts): Promise<Imported> {
  if (!isWebAddress(baseUrl)) throw new Error("--url must be an address such as https://openrouter.ai/api/v1, without a user or a query");
  const parsed: unknown = readYaml(text);
  const given = isConfigEntry(parsed) ? (parsed["data"] ?? parsed["models"]) : parsed;
  if (!Array.isArray(given)) throw new Error("it must be a list of models: {data: [...]}, {models: [...]}, or a list of ids");
  const into = new Imported();
  for (const member of isConfigEntry(parsed) ? Object.keys(parsed) : []) if (!READ.has(member)) into.note(`${member}: has no equivalent`);
  into.add("resource_groups", group, { name: group });
  const host = new URL(baseUrl).hostname.replace(/^(?:api|www)\./, "");
  const key = /^\d|:/.test(host) ? keyFor(`at-${host}`) : (host.split(".")[0] ?? host);
  into.add("providers", key, {
    provider_key: key,
    api_format: "openai",
    base_url: baseUrl,
    api_key: into.secret(variableOf(`${key}_api_key`), `your key of ${host}`),
  });
  const place = { provider_key: key, api_format: "openai", base_url: baseUrl };
  const further = new Map<string, string[]>();
  for (const [at, item] of (given as readonly ConfigValue[]).entries()) {
    const entry: ConfigEntry = isConfigEntry(item) ? item : { id: item };
    const { id } = entry;
    const refused = typeof id === "string" ? whyNoName(id) : null;
    if (typeof id !== "string" || id.trim() === "") into.note(`[${at}]: has no id`);
    else if (refused !== null) into.note(`[${at}]: its id ${refused}, and it was left out`);
    else if (!answersWithText(entry)) into.note(`[${at}] (${id}): does not answer with text; add it by hand`);
    else {
      if (into.find("llms", id) !== undefined) into.note(`[${at}] (${id}): stands there before; what stands last was taken`);
      const facts = factsOf(entry);
      const model = { name: id, model_name: id, provider: key, modes: ["chat"], ...facts, group_ids: [group] };
      into.add("llms", id, model);
      if (!isPriced(facts) && !isPriced(await known(place, id, model))) into.unpriced(id);
      for (const price of unreadPrices(entry)) further.set(price, [...(further.get(price) ?? []), id]);
    }
  }
  for (const [price, ids] of further)
    into.note(`pricing.${price} has no equivalent: calls of ${quotedNames(ids)} may cost more than budgets see`);
  into.noteUnpriced();
  return into;
}

const isPriced = (facts: object | null): boolean =>
  facts !== null && ["input_cost_per_million_tokens", "output_cost_per_million_tokens"].every((member) => member in facts);

function unreadPrices({ pricing }: ConfigEntry): string[] {
  return isConfigEntry(pricing) ? Object.keys(pricing).filter((name) => !PRICED.has(name) && Number(pricing[name]) > 0) : [];
}

function answersWithText({ architecture }: ConfigEntry): boolean {
  const kinds = isConfigEntry(architecture) ? architecture["output_modalities"] : undefined;
  return !Array.isArray(kinds) || kinds.includes("text");
}

function factsOf(entry: ConfigEntry): ConfigEntry {
  const found: Record<string, ConfigValue> = {};
  if (typeof entry["context_length"] === "number" && entry["context_length"] > 0) found["context_window"] = entry["context_length"];
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
    // Dollars per token. A negative price means that it varies.
    const price = Number(pricing[theirs] ?? Number.NaN);
    if (price >= 0) found[ours] = Math.round(price * 1e12) / 1e6;
  }
  return found;
}

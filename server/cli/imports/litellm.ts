import { readYaml } from "../../runtime/yaml.ts";
import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import { Imported } from "./imported.ts";
import type { Environment } from "../configuration/secrets.ts";
import { keyFor } from "./written-names.ts";
import { namesAfter, noteFallbacksOfNobody, noteLostOrder, type Spare, sparesOf } from "./litellm-fallbacks.ts";
import { importLitellmSettings, type Routing } from "./litellm-settings.ts";
import { type KnownFacts, type PlacedDeployment, placedByCatalog } from "./litellm-catalog.ts";
import { readDeployment } from "./litellm-deployment.ts";
import { Variables, variablesNamedIn } from "./litellm-variables.ts";
import { weighed } from "./litellm-weights.ts";

const SECTIONS = new Set([
  "model_list",
  "router_settings",
  "litellm_settings",
  "general_settings",
  "environment_variables",
  "mcp_servers",
  "guardrails",
  "credential_list",
  "include",
]);

/** Sections that are not imported, and their equivalent here. */
const ANSWERED_SECTIONS: Readonly<Record<string, string>> = {
  teams: "a team is a resource group below this one, with limits and models of its own",
  search_tools: "make a web search provider for each (docs/guides/web-search.md)",
  vector_store_registry: "make a knowledge base for each (docs/guides/knowledge-bases.md)",
  agent_list: "make an agent for each (docs/guides/agents.md)",
  callback_settings: "every call leaves one audit row; traces and metrics go out by the settings in docs/reference/configuration.md",
  assistant_settings: "assistants have no equal; see docs/reference/surfaces.md for the APIs that are served",
  finetune_settings: "fine-tuning has no equal; see docs/reference/surfaces.md for the APIs that are served",
  files_settings: "the gateway keeps files itself, and gives them to the provider that a call goes to (docs/guides/files.md)",
  prompts: "templates have no equal; system_prompt of a group's governance is put around what callers send (docs/guides/limits.md)",
};

/** Modes that routing groups support. */
const GROUP_MODES = new Set(["chat", "embedding", "image", "audio_speech", "audio_transcription", "moderation", "rerank"]);

/**
 * Converts LiteLLM's `config.yaml`: a provider for each location of models, a model for each deployment, and a routing group for each
 * public name with several deployments or fallbacks, all granted to one resource group. Values from variables, such as addresses, are
 * replaced by their current values; secrets remain variables.
 */
export async function importLitellm(
  text: string,
  group: string,
  env: Environment,
  known: KnownFacts,
  readFile: (name: string) => string = unreadable,
): Promise<Imported> {
  const given: unknown = readYaml(text);
  if (!isConfigEntry(given)) throw new Error("it must be LiteLLM's config.yaml: a mapping with model_list");
  const into = new Imported();
  const config = withIncluded(given, readFile);
  for (const section of Object.keys(config))
    // Parts shared through YAML anchors are under names that nothing reads.
    if (!SECTIONS.has(section) && !section.startsWith("x-"))
      into.note(`${section}: ${ANSWERED_SECTIONS[section] ?? "is not known and was left out"}`);
  into.add("resource_groups", group, { name: group });
  into.take(variablesNamedIn(config));
  const variables = new Variables(isConfigEntry(config["environment_variables"]) ? config["environment_variables"] : {}, env);
  const routing = importLitellmSettings(config, group, variables, into);
  if (list(config["model_list"]).length === 0) into.note("model_list: is not in the file, so there is no model to bring");
  const byName = new Map<string, PlacedDeployment[]>();
  for (const [at, item] of list(config["model_list"]).entries()) {
    const deployment = isConfigEntry(item) ? readDeployment(item, `model_list[${at}]`, config, variables, into) : null;
    if (deployment === null) continue;
    const placed = await placedByCatalog(deployment, known, into);
    byName.set(placed.publicName, [...(byName.get(placed.publicName) ?? []), placed]);
  }
  for (const [name, deployments] of byName) addModels(name, deployments, byName, routing, group, into);
  for (const [alias, target] of routing.aliases) {
    const deployments = byName.get(target);
    if (deployments === undefined) into.note(`router_settings.model_group_alias.${alias}: names "${target}", which is no model`);
    else if (byName.has(alias))
      into.note(`router_settings.model_group_alias.${alias}: a model has that name too; it keeps it, and the alias was left out`);
    else {
      addRoutingGroup(alias, deployments, sparesFor(alias, target, deployments, byName, routing, into), routing, group, into);
    }
  }
  noteFallbacksOfNobody(routing.fallbacks, (name) => byName.has(name) || routing.aliases.has(name), into);
  reportCopiedRates(into);
  stopAtBudget(group, into);
  into.noteUnpriced();
  return into;
}

function unreadable(name: string): string {
  throw new Error(`include: ${name} cannot be read here`);
}

/** Merges included files as LiteLLM does: lists are appended, other sections replace those of the main file. */
function withIncluded(config: ConfigEntry, readFile: (name: string) => string): ConfigEntry {
  const merged: Record<string, ConfigValue> = { ...config };
  for (const name of list(config["include"])) {
    const included: unknown = readYaml(readFile(String(name)));
    if (!isConfigEntry(included)) throw new Error(`include: ${String(name)} is no mapping of sections`);
    for (const [section, value] of Object.entries(included)) {
      const own = merged[section];
      merged[section] = Array.isArray(value) && Array.isArray(own) ? [...(own as ConfigValue[]), ...(value as ConfigValue[])] : value;
    }
  }
  return merged;
}

/** LiteLLM refuses calls beyond its budget. Here such a hard budget also refuses models without a price, which LiteLLM serves. */
function stopAtBudget(group: string, into: Imported): void {
  const entry = into.find("resource_groups", group);
  const limits = entry?.["llm_global_limits"];
  if (!isConfigEntry(limits) || !isConfigEntry(limits["budget"])) return;
  if (into.isPriced)
    into.add("resource_groups", group, { ...entry, llm_global_limits: { ...limits, budget: { ...limits["budget"], hard_stop: true } } });
  else
    into.note(
      "litellm_settings.max_budget: the budget warns and refuses nothing, for with hard_stop models without a price would be refused; set it once each has one",
    );
}

function list(value: ConfigValue | undefined): readonly ConfigValue[] {
  return Array.isArray(value) ? value : [];
}

function addModels(
  name: string,
  deployments: readonly PlacedDeployment[],
  byName: ReadonlyMap<string, readonly PlacedDeployment[]>,
  routing: Routing,
  group: string,
  into: Imported,
): void {
  const [only] = deployments;
  const spares = sparesFor(name, name, deployments, byName, routing, into);
  if (deployments.length === 1 && spares.length === 0 && only !== undefined) into.add("llms", name, modelOf(name, only, group));
  else addRoutingGroup(name, deployments, spares, routing, group, into);
}

function sparesFor(
  name: string,
  target: string,
  deployments: readonly PlacedDeployment[],
  byName: ReadonlyMap<string, readonly PlacedDeployment[]>,
  { fallbacks, aliases }: Routing,
  into: Imported,
): Spare[] {
  const find = (other: string) => byName.get(other) ?? byName.get(aliases.get(other) ?? "");
  return sparesOf({ name, target, use: useOf(deployments) }, fallbacks, find, into);
}

/** The mode of a public name's group: the first mode of its first deployment that routing groups support. */
function useOf([first]: readonly PlacedDeployment[]): string | undefined {
  return first?.modes.find((mode) => GROUP_MODES.has(mode));
}

/** Those of `others` that can be in one routing group with the first deployment of their name; the rest is noted. */
function doingTheSame(first: PlacedDeployment, others: readonly PlacedDeployment[], into: Imported): PlacedDeployment[] {
  const use = useOf([first]);
  return others.filter(({ modes, at }) => {
    if (use !== undefined && modes.includes(use)) return true;
    into.note(`${at}: cannot share the name with the one before, for one routing group is for one mode of all; it was left out`);
    return false;
  });
}

function addRoutingGroup(
  name: string,
  all: readonly PlacedDeployment[],
  spares: readonly Spare[],
  routing: Routing,
  group: string,
  into: Imported,
): void {
  const [first, ...further] = all;
  if (first === undefined) return;
  const deployments = [first, ...doingTheSame(first, further, into)];
  const mode = useOf(deployments);
  if (mode === undefined) {
    into.add("llms", name, modelOf(name, first, group));
    return;
  }
  const id = into.freeName("routing_groups", keyFor(name));
  const hasOrder = deployments.some(({ order }) => order !== null);
  const spareNames = namesAfter("failure", spares);
  // Fallbacks of several names are tried name by name, which cannot be expressed if members share calls by weight.
  const isOrdered = hasOrder || (deployments.length === 1 && spareNames.length > 1);
  const below = isOrdered && spareNames.length > 1 ? spareNames.length : 0;
  if (!isOrdered && spareNames.length > 1)
    into.note(
      `fallbacks: those of "${name}" (${spareNames.join(", ")}) are asked by chance and not in their order, for it has several deployments`,
    );
  noteLostOrder(name, spares, into);
  into.add("routing_groups", id, {
    id,
    name,
    ...(mode === "chat" ? {} : { mode }),
    ...routing.settings,
    routing_strategy: isOrdered ? "ordered" : routing.strategy,
  });
  const weights = weighed(deployments, hasOrder, routing.strategy);
  for (const [at, one] of deployments.entries()) {
    const own = into.freeName("llms", `${name} at ${one.provider}`);
    const weight = isOrdered ? (weights[at] ?? 1) + below : (weights[at] ?? null);
    into.addMember(group, own, {
      ...modelOf(own, one, group),
      routing_group_id: id,
      ...(weight === null ? {} : { routing_weight: weight }),
    });
  }
  // Used only if no other is available: in order if all members are ordered, otherwise by weight.
  for (const { deployment: one, on } of spares) {
    const own = into.freeName("llms", `${name} falls back to ${one.publicName}`);
    into.addMember(group, own, {
      ...modelOf(own, one, group),
      routing_group_id: id,
      routing_weight: below === 0 || !on.includes("failure") ? 0 : below - spareNames.indexOf(one.publicName),
      ...(String(on) === "failure" ? {} : { fallback_on: on }),
    });
  }
}

/** Each record has its own rate limit, so several records can together exceed the vendor's. */
function reportCopiedRates(into: Imported): void {
  const seen = new Map<string, string[]>();
  for (const { name, provider, model_name: model, rate_limit_rpm: rpm, rate_limit_tpm: tpm } of into.all("llms"))
    if (rpm !== undefined || tpm !== undefined) {
      const key = JSON.stringify([provider, model]);
      seen.set(key, [...(seen.get(key) ?? []), `"${String(name)}"`]);
    }
  for (const names of seen.values())
    if (names.length > 1) into.note(`rpm and tpm hold for each of ${names.join(", ")} by itself, though these are one place`);
}

function modelOf(name: string, deployment: PlacedDeployment, group: string): ConfigEntry {
  return { name, ...deployment.model, provider: deployment.provider, group_ids: [group] };
}

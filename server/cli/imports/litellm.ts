import { readYaml } from "../../runtime/yaml.ts";
import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import { Imported } from "./imported.ts";
import type { Environment } from "../configuration/secrets.ts";
import { keyFor } from "./written-names.ts";
import { importLitellmSettings, type Routing } from "./litellm-settings.ts";
import { type Deployment, readDeployment } from "./litellm-deployment.ts";
import { Variables } from "./litellm-variables.ts";
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
  "callback_settings",
]);

/** Of a routing group whose members do not chat. */
const GROUP_MODES = new Set(["embedding", "image", "audio_speech", "audio_transcription", "moderation"]);

/**
 * LiteLLM's `config.yaml` as a configuration of ours: a provider for each place where models are, a model for each deployment,
 * a routing group where a public name has several or falls back, all granted to one resource group. Addresses and the like that
 * it takes from variables are what these hold here; secrets stay variables.
 */
export function importLitellm(text: string, group: string, env: Environment): Imported {
  const config: unknown = readYaml(text);
  if (!isConfigEntry(config)) throw new Error("it must be LiteLLM's config.yaml: a mapping with model_list");
  const into = new Imported();
  for (const section of Object.keys(config))
    // Parts that others refer to by YAML's anchors stand under names nobody reads.
    if (!SECTIONS.has(section) && !section.startsWith("x-")) into.note(`${section}: is not known and was left out`);
  if (config["include"] !== undefined) into.note("include: other files are not read; import them one by one");
  into.add("resource_groups", group, { name: group });
  const variables = new Variables(isConfigEntry(config["environment_variables"]) ? config["environment_variables"] : {}, env);
  const routing = importLitellmSettings(config, group, variables, into);
  const byName = new Map<string, Deployment[]>();
  for (const [at, item] of list(config["model_list"]).entries()) {
    const deployment = isConfigEntry(item) ? readDeployment(item, `model_list[${at}]`, config, variables, into) : null;
    if (deployment !== null) byName.set(deployment.publicName, [...(byName.get(deployment.publicName) ?? []), deployment]);
  }
  for (const [name, deployments] of byName) addModels(name, deployments, byName, routing, group, into);
  for (const [alias, target] of routing.aliases) {
    const deployments = byName.get(target);
    if (deployments === undefined) into.note(`router_settings.model_group_alias.${alias}: names "${target}", which is no model`);
    else if (byName.has(alias))
      into.note(`router_settings.model_group_alias.${alias}: a model has that name too; it keeps it, and the alias was left out`);
    else addRoutingGroup(alias, deployments, [], routing, group, into);
  }
  for (const [name, others] of routing.fallbacks)
    if (!byName.has(name)) into.note(`fallbacks: "${name}" is no model, so its fallbacks (${others.join(", ")}) were left out`);
  tellCopiedRates(into);
  return into;
}

function list(value: ConfigValue | undefined): readonly ConfigValue[] {
  return Array.isArray(value) ? value : [];
}

function addModels(
  name: string,
  deployments: readonly Deployment[],
  byName: ReadonlyMap<string, readonly Deployment[]>,
  routing: Routing,
  group: string,
  into: Imported,
): void {
  const spares = (routing.fallbacks.get(name) ?? routing.fallbacks.get("*") ?? [])
    .filter((other) => other !== name)
    .flatMap((other) => {
      const found = byName.get(other) ?? byName.get(routing.aliases.get(other) ?? "");
      if (found === undefined) into.note(`fallbacks: "${other}" is no model, so it is none for "${name}"`);
      return found ?? [];
    });
  const [only] = deployments;
  if (deployments.length === 1 && spares.length === 0 && only !== undefined) into.add("llms", name, modelOf(name, only, group));
  else addRoutingGroup(name, deployments, spares, routing, group, into);
}

function addRoutingGroup(
  name: string,
  deployments: readonly Deployment[],
  spares: readonly Deployment[],
  routing: Routing,
  group: string,
  into: Imported,
): void {
  const id = into.freeName("routing_groups", keyFor(name));
  const isOrdered = deployments.some(({ order }) => order !== null);
  const modes = deployments[0]?.model["modes"];
  const mode = Array.isArray(modes) ? modes[0] : undefined;
  into.add("routing_groups", id, {
    id,
    name,
    ...(typeof mode === "string" && GROUP_MODES.has(mode) ? { mode } : {}),
    ...routing.settings,
    routing_strategy: isOrdered ? "ordered" : routing.strategy,
  });
  const weights = weighed(deployments, isOrdered, routing.strategy);
  for (const [at, one] of deployments.entries()) {
    const own = into.freeName("llms", `${name} at ${one.provider}`);
    const weight = weights[at] ?? null;
    into.add("llms", own, { ...modelOf(own, one, group), routing_group_id: id, ...(weight === null ? {} : { routing_weight: weight }) });
  }
  // Asked only when no other can be.
  for (const one of spares) {
    const own = into.freeName("llms", `${name} falls back to ${one.publicName}`);
    into.add("llms", own, { ...modelOf(own, one, group), routing_group_id: id, routing_weight: 0 });
  }
}

/** Each record has a rate of its own, so what stands in several may use the vendor's several times. */
function tellCopiedRates(into: Imported): void {
  const seen = new Map<string, string[]>();
  for (const { name, provider, model_name: model, rate_limit_rpm: rpm, rate_limit_tpm: tpm } of into.all("llms"))
    if (rpm !== undefined || tpm !== undefined) {
      const key = JSON.stringify([provider, model]);
      seen.set(key, [...(seen.get(key) ?? []), `"${String(name)}"`]);
    }
  for (const names of seen.values())
    if (names.length > 1) into.note(`rpm and tpm hold for each of ${names.join(", ")} by itself, though these are one place`);
}

function modelOf(name: string, deployment: Deployment, group: string): ConfigEntry {
  return { name, ...deployment.model, provider: deployment.provider, group_ids: [group] };
}

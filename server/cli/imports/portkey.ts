import { readYaml } from "../../runtime/yaml.ts";
import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import { Imported } from "./imported.ts";
import { keyFor, variableOf } from "./written-names.ts";
import { LITELLM_PROVIDERS } from "./litellm-providers.ts";

/** Portkey's names of providers that LiteLLM, whose table this is, calls otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  google: "gemini",
  "vertex-ai": "vertex_ai",
  "azure-openai": "azure",
  "mistral-ai": "mistral",
  "together-ai": "together_ai",
  "fireworks-ai": "fireworks_ai",
  "perplexity-ai": "perplexity",
  "x-ai": "xai",
};

const READ = new Set([
  "strategy",
  "targets",
  "retry",
  "request_timeout",
  "provider",
  "virtual_key",
  "api_key",
  "override_params",
  "custom_host",
  "weight",
  "name",
  "aws_region",
  "resource_name",
  "vertex_region",
  "vertex_project_id",
  "deployment_id",
]);

const GUARDRAILS = "make a guardrail configuration (docs/guides/guardrails.md)";
/** What another setting here does. */
const ANSWERED: Readonly<Record<string, string>> = {
  cache: "make a semantic cache configuration (docs/guides/semantic-cache.md)",
  input_guardrails: GUARDRAILS,
  output_guardrails: GUARDRAILS,
  before_request_hooks: GUARDRAILS,
  after_request_hooks: GUARDRAILS,
  api_version: "Azure is called by its address without versions; one in base_url (?api-version=) is kept",
};

/**
 * A config of Portkey (JSON) as a configuration of ours: one routing group, with a model for each of its targets. Targets
 * within targets become members of the same group, in their order.
 */
export function importPortkey(text: string, group: string, name: string): Imported {
  const config: unknown = readYaml(text);
  if (!isConfigEntry(config)) throw new Error("it must be a Portkey config: an object with targets");
  const into = new Imported();
  into.add("resource_groups", group, { name: group });
  const strategy = isConfigEntry(config["strategy"]) ? config["strategy"]["mode"] : "single";
  const usual = isConfigEntry(config["strategy"]) ? config["strategy"]["default"] : undefined;
  if (strategy === "conditional")
    into.note(
      `strategy.mode: conditional has no equal; its targets are asked in their order${typeof usual === "string" ? `, "${usual}" first` : ""}: give each a routing group and let applications name it`,
    );
  const found = targetsOf(config, "", into);
  // Where nothing is told of the caller, Portkey asks the one that stands for all others.
  const isUsual = ({ entry }: Target) => strategy === "conditional" && entry["name"] === usual;
  const targets = [...found.filter(isUsual), ...found.filter((target) => !isUsual(target))];
  const id = keyFor(name);
  const retry = isConfigEntry(config["retry"]) ? config["retry"]["attempts"] : undefined;
  const timeout = config["request_timeout"];
  into.add("routing_groups", id, {
    id,
    name,
    routing_strategy: strategy === "loadbalance" ? "simple-shuffle" : "ordered",
    ...(typeof retry === "number" ? { num_retries: Math.min(20, retry) } : {}),
    ...(typeof timeout === "number" ? { timeout: timeout / 1000 } : {}),
  });
  for (const [at, target] of targets.entries())
    addTarget(target, at, targets.length, { id, name, group, isShuffled: strategy === "loadbalance" }, into);
  return into;
}

interface Target {
  readonly entry: ConfigEntry;
  readonly at: string;
}

function targetsOf(entry: ConfigEntry, at: string, into: Imported): Target[] {
  for (const member of Object.keys(entry))
    if (!READ.has(member)) into.note(`${at === "" ? "" : `${at}.`}${member}: ${ANSWERED[member] ?? "has no equal"}`);
  for (const member of ["strategy", "retry"]) {
    const given = entry[member];
    if (isConfigEntry(given) && given["on_status_codes"] !== undefined)
      into.note(
        `${at === "" ? "" : `${at}.`}${member}.on_status_codes: other members are asked, and retries made, for what they may mend (docs/guides/routing.md)`,
      );
  }
  const { targets } = entry;
  if (!Array.isArray(targets)) return [{ entry, at }];
  if (at !== "") into.note(`${at}: targets within targets are asked as members of one group`);
  return (targets as readonly ConfigValue[])
    .filter(isConfigEntry)
    .flatMap((target, n) => targetsOf(target, `${at === "" ? "" : `${at}.`}targets[${n}]`, into));
}

/** Of a vendor whose address says where it is, or whose it is. */
function regionalAddress(format: string | undefined, entry: ConfigEntry): string | null {
  const { aws_region: region, resource_name: resource, vertex_region: location, vertex_project_id: project } = entry;
  if (format === "bedrock" && typeof region === "string") return `https://bedrock-runtime.${region}.amazonaws.com`;
  if (format === "azure_openai" && typeof resource === "string") return `https://${resource}.openai.azure.com`;
  if (format !== "vertex" || typeof location !== "string") return null;
  const vertex = location === "global" ? "https://aiplatform.googleapis.com" : `https://${location}-aiplatform.googleapis.com`;
  return typeof project === "string" ? `${vertex}/v1/projects/${project}/locations/${location}` : vertex;
}

function addTarget(
  { entry, at }: Target,
  place: number,
  count: number,
  to: { readonly id: string; readonly name: string; readonly group: string; readonly isShuffled: boolean },
  into: Imported,
): void {
  const label = at === "" ? "the config" : at;
  const given = typeof entry["provider"] === "string" ? entry["provider"].replace(/^@/, "") : null;
  const wanted = isConfigEntry(entry["override_params"]) ? entry["override_params"]["model"] : undefined;
  // Azure is asked for deployments, whatever model is in them.
  const model = given !== null && (NAMES[given] ?? given) === "azure" ? (entry["deployment_id"] ?? wanted) : wanted;
  const host = entry["custom_host"];
  const known = given === null ? undefined : LITELLM_PROVIDERS[NAMES[given] ?? given];
  if (typeof model !== "string") return into.note(`${label}: has no override_params.model, so there is no model to make`);
  if (given === null || (known === undefined && typeof host !== "string"))
    return into.note(`${label}: which provider "${given ?? "its virtual key"}" stands for is not in the config; add it by hand`);
  const baseUrl = typeof host === "string" ? host : (known?.baseUrl ?? regionalAddress(known?.format, entry));
  if (baseUrl === null || baseUrl === undefined) return into.note(`${label}: the address of ${given} is not in the config; add it by hand`);
  const credential = typeof entry["virtual_key"] === "string" ? `the key behind the virtual key of ${label}` : `${label}.api_key`;
  const identity = `${given} ${JSON.stringify([entry["virtual_key"] ?? null, entry["api_key"] ?? null])}`;
  const key = into.provider(keyFor(given), {
    api_format: known?.format ?? "openai",
    base_url: baseUrl,
    api_key: into.namedSecret(identity, known?.keyVariable ?? variableOf(`${given}_api_key`), credential),
  });
  for (const member of Object.keys(isConfigEntry(entry["override_params"]) ? entry["override_params"] : {}))
    if (member !== "model") into.note(`${label}.override_params.${member}: set it by parameter governance (docs/guides/limits.md)`);
  const own = into.freeName("llms", `${to.name} at ${key}`);
  const weight = to.isShuffled ? Math.round((typeof entry["weight"] === "number" ? entry["weight"] : 1) * 100) : count - place;
  into.addMember(to.group, own, {
    name: own,
    model_name: model,
    provider: key,
    modes: ["chat"],
    routing_group_id: to.id,
    routing_weight: weight,
    group_ids: [to.group],
  });
}

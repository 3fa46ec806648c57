import { readYaml } from "../../runtime/yaml.ts";
import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import { Imported } from "./imported.ts";
import type { KnownFacts } from "./litellm-catalog.ts";
import { LITELLM_PROVIDERS, type ProviderByPrefix } from "./litellm-providers.ts";
import { scaled } from "./litellm-weights.ts";
import { signedRegion } from "./signed-region.ts";
import { keyFor, variableOf } from "./written-names.ts";

/** Portkey's provider names that differ from those of LiteLLM, whose table is used. */
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
  "aws_access_key_id",
  "aws_secret_access_key",
  "aws_session_token",
]);
const STRATEGIES: ReadonlySet<unknown> = new Set(["single", "fallback", "loadbalance", "conditional"]);

const GUARDRAILS = "make a guardrail configuration (docs/guides/guardrails.md)";
/** Settings that have an equivalent elsewhere. */
const ANSWERED: Readonly<Record<string, string>> = {
  cache: "make a semantic cache configuration (docs/guides/semantic-cache.md)",
  input_guardrails: GUARDRAILS,
  output_guardrails: GUARDRAILS,
  before_request_hooks: GUARDRAILS,
  after_request_hooks: GUARDRAILS,
  api_version: "Azure is called by its address without versions; one in base_url (?api-version=) is kept",
};

/** The vendors behind names of integrations and virtual keys, which are in Portkey's vault and not in its configs. */
export type VendorsByName = ReadonlyMap<string, string>;

/** Parses the command's `--provider NAME=VENDOR` options. */
export function vendorsByName(given: readonly string[]): VendorsByName {
  return new Map(
    given.map((one) => {
      const [, name, vendor] = /^@?([^=]+)=(.+)$/.exec(one) ?? [];
      if (name === undefined || vendor === undefined) throw new Error(`--provider ${one}: must be NAME=VENDOR`);
      if (vendorNamed(vendor) === undefined) throw new Error(`--provider ${one}: "${vendor}" is no vendor that is known here`);
      return [name, vendor] as const;
    }),
  );
}

const vendorNamed = (name: string): ProviderByPrefix | undefined => LITELLM_PROVIDERS[NAMES[name] ?? name];

/**
 * Converts a Portkey config (JSON): one routing group with a model for each target. Nested targets become members of the same group, in
 * order and with their shares.
 */
export async function importPortkey(
  text: string,
  group: string,
  name: string,
  known: KnownFacts,
  vendors: VendorsByName = new Map(),
): Promise<Imported> {
  const config: unknown = readYaml(text);
  if (!isConfigEntry(config)) throw new Error("it must be a Portkey config: an object with targets");
  const into = new Imported();
  into.add("resource_groups", group, { name: group });
  const strategy = strategyOf(config, "", into);
  const usual = isConfigEntry(config["strategy"]) ? config["strategy"]["default"] : undefined;
  if (strategy === "conditional")
    into.note(
      `strategy.mode: conditional has no equivalent; its targets are asked in their order${typeof usual === "string" ? `, "${usual}" first` : ""}: give each a routing group and let applications name it`,
    );
  const found = targetsOf(config, "", into);
  // If a call carries no metadata, Portkey uses the default target.
  const isUsual = ({ entry }: Target) => strategy === "conditional" && entry["name"] === usual;
  const targets = [...found.filter(isUsual), ...found.filter((target) => !isUsual(target))];
  const id = keyFor(name);
  // The first level of a fallback may be load-balanced; everything after it is tried only if none of these is available.
  const isShuffled = strategy === "loadbalance" || (strategy === "fallback" && targets.filter(({ share }) => share > 0).length > 1);
  if (strategy === "fallback") noteLostShares(config, isShuffled, targets, into);
  const shares = targets.map(({ share }) => share);
  const retries = numberAt(isConfigEntry(config["retry"]) ? config["retry"] : {}, "attempts", "retry.", into);
  const timeout = numberAt(config, "request_timeout", "", into);
  const to = { id, name, group, known, vendors };
  for (const [at, target] of targets.entries())
    await addTarget(target, isShuffled ? scaled(target.share, shares) : targets.length - at, to, into);
  if (into.count("llms") === 0) into.note("no model could be made, so there is no routing group");
  else
    into.add("routing_groups", id, {
      id,
      name,
      routing_strategy: isShuffled ? "simple-shuffle" : "ordered",
      ...(retries === null ? {} : { num_retries: Math.min(20, retries) }),
      ...(timeout === null ? {} : { timeout: timeout / 1000 }),
    });
  into.noteUnpriced();
  return into;
}

interface Target {
  readonly entry: ConfigEntry;
  readonly at: string;
  /** Share of the requests at its level; 0 if it is used only when another is unavailable. */
  readonly share: number;
}

function noteLostShares(config: ConfigEntry, isShuffled: boolean, targets: readonly Target[], into: Imported): void {
  const how = isShuffled ? "by chance" : "in their order";
  const given = Array.isArray(config["targets"]) ? (config["targets"] as readonly ConfigValue[]) : [];
  for (const [n, target] of given.entries())
    if (n > 0 && isConfigEntry(target) && isConfigEntry(target["strategy"]) && target["strategy"]["mode"] === "loadbalance")
      into.note(`targets[${n}]: its shares have no equivalent behind the first target; its targets are asked ${how}`);
  if (isShuffled && targets.filter(({ share }) => share === 0).length > 1)
    into.note("targets: those behind the first, whose targets share their calls, are asked by chance and not in their order");
}

const placeIn = (at: string, member: string): string => (at === "" ? member : `${at}.${member}`);

function strategyOf(entry: ConfigEntry, at: string, into: Imported): unknown {
  const mode = isConfigEntry(entry["strategy"]) ? entry["strategy"]["mode"] : "single";
  if (!STRATEGIES.has(mode))
    into.note(`${placeIn(at, "strategy.mode")}: ${JSON.stringify(mode)} is none that is known; its targets are asked in their order`);
  return mode;
}

/** Null if it is missing, or is not a number, which is noted. */
function numberAt(holder: ConfigEntry, member: string, at: string, into: Imported): number | null {
  const value = holder[member];
  if (typeof value === "number" && value >= 0) return value;
  if (value !== undefined && value !== null) into.note(`${at}${member}: must be a number from 0, and was left out`);
  return null;
}

function targetsOf(entry: ConfigEntry, at: string, into: Imported): Target[] {
  for (const member of Object.keys(entry))
    if (!READ.has(member)) into.note(`${placeIn(at, member)}: ${ANSWERED[member] ?? "has no equivalent"}`);
  for (const member of ["strategy", "retry"]) {
    const given = entry[member];
    if (isConfigEntry(given) && given["on_status_codes"] !== undefined)
      into.note(
        `${placeIn(at, member)}.on_status_codes: other members are asked, and retries made, for what they may mend (docs/guides/routing.md)`,
      );
  }
  for (const member of at === "" ? [] : ["retry", "request_timeout"])
    if (entry[member] !== undefined) into.note(`${at}.${member}: is one for all targets here, that of the routing group`);
  const { targets } = entry;
  if (!Array.isArray(targets)) return [{ entry, at, share: 1 }];
  if (at !== "") into.note(`${at}: targets within targets are asked as members of one group`);
  const isShared = strategyOf(entry, at, into) === "loadbalance";
  const inside = (targets as readonly ConfigValue[]).flatMap((target, n) => {
    const place = placeIn(at, `targets[${n}]`);
    if (!isConfigEntry(target)) into.note(`${place}: is no target`);
    return isConfigEntry(target)
      ? [{ weight: numberAt(target, "weight", `${place}.`, into) ?? 1, found: targetsOf(target, place, into) }]
      : [];
  });
  const all = inside.reduce((sum, { weight }) => sum + weight, 0);
  // First-level weights are used as they are; nested ones are fractions of their parent's share.
  const shareOf = (weight: number, n: number): number => (isShared ? (at === "" ? weight : weight / (all || 1)) : n === 0 ? 1 : 0);
  return inside.flatMap(({ weight, found }, n) => found.map((target) => ({ ...target, share: target.share * shareOf(weight, n) })));
}

/** The address for a vendor where it depends on region or account. */
function regionalAddress(format: string | undefined, entry: ConfigEntry): string | null {
  const { aws_region: region, resource_name: resource, vertex_region: location, vertex_project_id: project } = entry;
  if (format === "bedrock" && typeof region === "string") return `https://bedrock-runtime.${region}.amazonaws.com`;
  if (format === "azure_openai" && typeof resource === "string") return `https://${resource}.openai.azure.com`;
  if (format !== "vertex" || typeof location !== "string") return null;
  const vertex = location === "global" ? "https://aiplatform.googleapis.com" : `https://${location}-aiplatform.googleapis.com`;
  return typeof project === "string" ? `${vertex}/v1/projects/${project}/locations/${location}` : vertex;
}

interface Destination {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly known: KnownFacts;
  readonly vendors: VendorsByName;
}

/** The provider and model of a target: a model may also be prefixed with its integration, `@openai-prod/gpt-4o`. */
function wantedBy(entry: ConfigEntry): { readonly given: string | null; readonly model: ConfigValue | undefined } {
  const model = isConfigEntry(entry["override_params"]) ? entry["override_params"]["model"] : undefined;
  const provider = typeof entry["provider"] === "string" ? entry["provider"].replace(/^@/, "") : null;
  const [, integration, rest] = typeof model === "string" ? (/^@([^/]+)\/(.+)$/.exec(model) ?? []) : [];
  const virtual = typeof entry["virtual_key"] === "string" ? entry["virtual_key"] : null;
  return { given: provider ?? integration ?? virtual, model: rest ?? model };
}

async function addTarget({ entry, at }: Target, weight: number, to: Destination, into: Imported): Promise<void> {
  const label = at === "" ? "the config" : at;
  const { given, model: wanted } = wantedBy(entry);
  const vendor = given === null ? null : (to.vendors.get(given) ?? given);
  const known = vendor === null ? undefined : vendorNamed(vendor);
  // Azure is addressed by deployment, whatever model it contains.
  const model = known?.format === "azure_openai" ? (entry["deployment_id"] ?? wanted) : wanted;
  const host = entry["custom_host"];
  if (typeof model !== "string") return into.note(`${label}: has no override_params.model, so there is no model to make`);
  if (given === null) return into.note(`${label}: names no provider; add it by hand`);
  if (known === undefined && typeof host !== "string")
    return into.note(
      `${label}: which vendor "${given}" stands for is not in the config; say it by --provider ${given}=VENDOR, or add it by hand`,
    );
  const baseUrl = typeof host === "string" ? host : (known?.baseUrl ?? regionalAddress(known?.format, entry));
  if (baseUrl === null || baseUrl === undefined) return into.note(`${label}: the address of ${given} is not in the config; add it by hand`);
  const format = known?.format ?? "openai";
  const record = { api_format: format, base_url: baseUrl, ...signedRegion(format, baseUrl, entry["aws_region"]) };
  const secret = secretOf(entry, label, given, known, into);
  const key = into.provider(keyFor(given), { ...record, ...(secret === null ? {} : { api_key: secret }) });
  for (const member of Object.keys(isConfigEntry(entry["override_params"]) ? entry["override_params"] : {}))
    if (member !== "model") into.note(`${label}.override_params.${member}: set it by parameter governance (docs/guides/limits.md)`);
  const own = into.freeName("llms", `${to.name} at ${key}`);
  const facts = await to.known({ provider_key: key, ...record }, typeof wanted === "string" ? wanted : model, {});
  const { description: _, modes, ...costs } = isConfigEntry(facts) ? facts : {};
  if (!Object.keys(costs).some((member) => /cost|_prices$/.test(member))) into.unpriced(own);
  if (Array.isArray(modes) && modes.length > 0 && !modes.includes("chat"))
    return into.note(`${label}: "${model}" does not serve chat (${modes.join(", ")}); add it by hand, as a model of its own`);
  into.addMember(to.group, own, {
    // The catalog knows nothing about a deployment's name.
    ...(model === wanted ? {} : costs),
    ...{ name: own, model_name: model, provider: key, modes: ["chat"], routing_group_id: to.id },
    routing_weight: weight,
    group_ids: [to.group],
  });
}

/** Where a target's credential is today; null for a server that needs none. */
function secretOf(
  entry: ConfigEntry,
  label: string,
  given: string,
  known: ProviderByPrefix | undefined,
  into: Imported,
): ConfigEntry | null {
  const { virtual_key: virtual = null, api_key: own = null, aws_access_key_id: aws = null } = entry;
  const isNamed = own === null && aws === null && vendorNamed(given) === undefined;
  const standsAt =
    typeof virtual === "string"
      ? `the key behind the virtual key of ${label}`
      : own !== null
        ? `${label}.api_key`
        : aws !== null
          ? `${label}.aws_access_key_id and aws_secret_access_key, as ID:SECRET`
          : isNamed
            ? `the key of the integration "${given}"`
            : `a key of ${given}, which ${label} does not hold`;
  if (known?.keyVariable === null && known.format === "openai" && own === null && virtual === null && !isNamed) return null;
  return into.namedSecret(
    `${given} ${JSON.stringify([virtual, own, aws])}`,
    known?.keyVariable ?? variableOf(`${given}_api_key`),
    standsAt,
  );
}

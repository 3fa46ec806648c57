import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import { FALLBACK_SETTINGS, readFallbacks } from "./litellm-fallbacks.ts";
import { addGuardrails } from "./litellm-guardrails.ts";
import { numberWritten } from "./litellm-numbers.ts";
import { addToolServers } from "./litellm-tool-servers.ts";
import type { Variables } from "./litellm-variables.ts";

/** How calls are distributed among deployments of the same public name. */
export interface Routing {
  readonly strategy: string;
  /** Settings of every routing group. */
  readonly settings: ConfigEntry;
  readonly fallbacks: ReturnType<typeof readFallbacks>;
  readonly aliases: ReadonlyMap<string, string>;
}

const STRATEGIES: Readonly<Record<string, string>> = {
  "simple-shuffle": "simple-shuffle",
  "least-busy": "least-busy",
  "latency-based-routing": "latency-based",
  "cost-based-routing": "cost-based",
};

const OF_A_GROUP = "budgets, rates and calls at once are limits of a resource group and its models (docs/guides/limits.md)";

const NO_BODIES = "store_bodies of the tenant's data_retention says what rows keep of bodies (docs/guides/audit-ledger.md)";
const PROBES = "members that fail are left out of a routing group for its cooldown_time, without probes (docs/guides/routing.md)";
const AN_ISSUER = "an identity provider of the audience api is trusted for calls with its tokens (docs/guides/single-sign-on.md)";

/** Settings that have an equivalent elsewhere, or need none. */
const ANSWERED: Readonly<Record<string, string>> = {
  "litellm_settings.drop_params": "parameters that a provider does not take are dropped and named in x-gw-dropped-parameters",
  "litellm_settings.callbacks":
    "every call leaves one audit row; traces and metrics go out by the settings in docs/reference/configuration.md",
  "litellm_settings.success_callback":
    "every call leaves one audit row; traces and metrics go out by the settings in docs/reference/configuration.md",
  "litellm_settings.failure_callback":
    "every call leaves one audit row; traces and metrics go out by the settings in docs/reference/configuration.md",
  "litellm_settings.turn_off_message_logging": NO_BODIES,
  "general_settings.enable_jwt_auth": AN_ISSUER,
  "general_settings.litellm_jwtauth": AN_ISSUER,
  "litellm_settings.ssl_verify":
    "certificates are always verified; NODE_EXTRA_CA_CERTS names those of your own authorities (docs/guides/operations.md)",
  "litellm_settings.cache": "make a semantic cache configuration (docs/guides/semantic-cache.md)",
  "litellm_settings.cache_params": "make a semantic cache configuration (docs/guides/semantic-cache.md)",
  "general_settings.master_key": "administrators sign in with an account; applications get API keys of a resource group, with new values",
  "general_settings.database_url":
    "the gateway has its own (DATABASE_URL, or the one it brings); keys, teams and budgets that LiteLLM keeps in its database do not stand in its file, and have to be made anew",
  "general_settings.alerting": "make a webhook to the channel of your chat (docs/guides/webhooks.md)",
  "general_settings.alert_types": "make a webhook to the channel of your chat (docs/guides/webhooks.md)",
  "general_settings.max_request_size_mb": "GW_MAX_BODY_MB says how large a request may be (docs/reference/configuration.md)",
  "general_settings.max_parallel_requests": OF_A_GROUP,
  "general_settings.global_max_parallel_requests": OF_A_GROUP,
  "general_settings.store_model_in_db":
    "models that LiteLLM has in its database and not in this file are not brought: write them into model_list first. Here what is configured is always in the database; `gatehouse config export` writes it as a file",
  "general_settings.maximum_spend_logs_retention_period":
    "log_days of the tenant's data_retention says how long rows are kept (docs/guides/audit-ledger.md)",
  "general_settings.disable_spend_logs": "every call leaves a row; store_bodies and log_days of data_retention say what is kept",
  "general_settings.key_management_system":
    "the gateway's own secrets may come from files (GW_SECRET_KEY_FILE), keys of providers from variables where `gatehouse config apply` runs",
  "general_settings.custom_auth": AN_ISSUER,
  "general_settings.role_permissions": "administrators have roles with permissions (docs/guides/console.md)",
  "general_settings.allowed_ips":
    "give API keys allowed_addresses, or let the network or the proxy in front decide which addresses reach the ports",
  "general_settings.background_health_checks": PROBES,
  "general_settings.health_check_interval": PROBES,
  "general_settings.enforce_user_param": "people have accounts and tokens of their own (docs/guides/portal-api.md)",
  "general_settings.pass_through_endpoints": "only what is understood is passed on; see docs/reference/surfaces.md",
  "litellm_settings.default_internal_user_params": OF_A_GROUP,
  "litellm_settings.max_internal_user_budget": OF_A_GROUP,
  "litellm_settings.internal_user_budget_duration": OF_A_GROUP,
  "litellm_settings.default_team_settings": "a team is a resource group below this one, with limits and models of its own",
  "litellm_settings.default_team_params": "a team is a resource group below this one, with limits and models of its own",
  "litellm_settings.default_key_generate_params": OF_A_GROUP,
  "litellm_settings.upperbound_key_generate_params": OF_A_GROUP,
  "router_settings.enable_pre_call_checks":
    "members of a routing group are chosen within the rates and the allowed regions of each; one with context_window in fallback_on takes requests that are too long for the others (docs/guides/routing.md)",
  "router_settings.provider_budget_config": "budgets are of resource groups, and of models in them (docs/guides/limits.md)",
  "router_settings.retry_policy": "num_retries is for every failure that another attempt may mend",
  "router_settings.model_group_retry_policy": "num_retries is for every failure that another attempt may mend",
  "router_settings.redis_host": "counters are shared by VALKEY_URL",
  "router_settings.redis_password": "counters are shared by VALKEY_URL",
  "router_settings.redis_port": "counters are shared by VALKEY_URL",
  "router_settings.redis_url": "counters are shared by VALKEY_URL",
};

const ROUTER = new Set([
  "routing_strategy",
  "num_retries",
  "timeout",
  "allowed_fails",
  "cooldown_time",
  "retry_after",
  ...FALLBACK_SETTINGS,
  "model_group_alias",
]);
const LITELLM = new Set([
  "api_base",
  "num_retries",
  "request_timeout",
  "allowed_fails",
  ...FALLBACK_SETTINGS,
  "max_budget",
  "budget_duration",
]);
/** Settings without any meaning here. */
const QUIET = new Set(["set_verbose", "json_logs", "telemetry"]);

/** Imports everything except the models. */
export function importLitellmSettings(config: ConfigEntry, group: string, variables: Variables, into: Imported): Routing {
  const router = variables.settings("router_settings", config["router_settings"], ROUTER, into);
  const litellm = variables.settings("litellm_settings", config["litellm_settings"], LITELLM, into);
  reportUnknownSettings("router_settings", router, ROUTER, into);
  reportUnknownSettings("litellm_settings", litellm, LITELLM, into);
  reportUnknownSettings("general_settings", entryOf(config["general_settings"]), new Set(), into);
  if (config["environment_variables"] !== undefined)
    into.note("environment_variables: set them where `gatehouse config apply` runs; the gateway keeps what it is given, sealed");
  addGuardrails(config["guardrails"], group, variables, into);
  addBudget(litellm, group, into);
  addToolServers(entryOf(config["mcp_servers"]), group, variables, into);
  return { ...routingOf(router, litellm, into), fallbacks: readFallbacks(router, litellm, into), aliases: aliasesOf(router, into) };
}

function entryOf(value: ConfigValue | undefined): ConfigEntry {
  return isConfigEntry(value) ? value : {};
}

function reportUnknownSettings(section: string, settings: ConfigEntry, read: ReadonlySet<string>, into: Imported): void {
  for (const name of Object.keys(settings)) {
    if (read.has(name) || QUIET.has(name)) continue;
    into.note(`${section}.${name}: ${ANSWERED[`${section}.${name}`] ?? "has no equivalent"}`);
  }
}

function routingOf(router: ConfigEntry, litellm: ConfigEntry, into: Imported): Pick<Routing, "strategy" | "settings"> {
  const routingStrategy = router["routing_strategy"];
  const strategy = typeof routingStrategy === "string" ? STRATEGIES[routingStrategy] : "simple-shuffle";
  if (strategy === undefined)
    into.note(
      `router_settings.routing_strategy: ${String(routingStrategy)} has no equivalent; members are chosen by simple-shuffle, within the rates of each`,
    );
  const settings: Record<string, ConfigValue> = {};
  const take = (member: string, value: ConfigValue | undefined, most: number, isWhole = false): void => {
    const given = numberWritten(value);
    if (value === undefined || value === null) return;
    if (given === null || given < 0 || (member === "timeout" && given === 0))
      into.note(`${member}: is ${JSON.stringify(value)}, which is no number that can be taken`);
    else settings[member] = Math.min(isWhole ? Math.round(given) : given, most);
  };
  take("num_retries", router["num_retries"] ?? litellm["num_retries"], 20, true);
  take("timeout", router["timeout"] ?? litellm["request_timeout"], 86_400);
  take("allowed_fails", router["allowed_fails"] ?? litellm["allowed_fails"], 1_000, true);
  take("cooldown_time", router["cooldown_time"], 86_400);
  take("retry_after", router["retry_after"], 86_400);
  return { strategy: strategy ?? "simple-shuffle", settings };
}

function aliasesOf(router: ConfigEntry, into: Imported): Map<string, string> {
  const found = new Map<string, string>();
  for (const [alias, target] of Object.entries(entryOf(router["model_group_alias"]))) {
    const name = isConfigEntry(target) ? target["model"] : target;
    if (typeof name === "string") found.set(alias, name);
    if (isConfigEntry(target) && target["hidden"] === true)
      into.note(`router_settings.model_group_alias.${alias}.hidden: hide it for the portal per group (portal_visible)`);
  }
  return found;
}

function addBudget(litellm: ConfigEntry, group: string, into: Imported): void {
  const { max_budget: given, budget_duration: period } = litellm;
  const most = numberWritten(given);
  if (most === null) return;
  const member =
    period === "30d" || period === "1mo" ? "monthly_limit_usd" : period === "1d" || period === "24h" ? "daily_limit_usd" : null;
  if (member === null)
    into.note(
      `litellm_settings.budget_duration: budgets are of a day or a month, so ${String(most)} USD ${period === undefined ? "for all time" : `for ${String(period)}`} was left out`,
    );
  else into.add("resource_groups", group, { name: group, llm_global_limits: { budget: { [member]: most } } });
}

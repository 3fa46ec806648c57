import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import { notSet, variableNamed, type Variables } from "./litellm-variables.ts";
import { variableOf } from "./written-names.ts";

/** What inspects requests or answers, by LiteLLM's `mode`. */
const SURFACES: Readonly<Record<string, readonly string[]>> = {
  pre_call: ["chat_input", "embeddings_input", "image_gen_input", "audio_tts_input"],
  during_call: ["chat_input", "embeddings_input", "image_gen_input", "audio_tts_input"],
  post_call: ["chat_output"],
  pre_mcp_call: ["mcp_input"],
  during_mcp_call: ["mcp_input"],
};

/** Presidio's entities that the built-in check finds. */
const ENTITIES: Readonly<Record<string, string>> = {
  EMAIL_ADDRESS: "email",
  PHONE_NUMBER: "phone",
  CREDIT_CARD: "credit_card",
  US_SSN: "ssn",
  IBAN_CODE: "iban",
};

const BY_HAND = "make a guardrail configuration (docs/guides/guardrails.md); secrets and personal data are found without another service";
/** Members that need no note. */
const READ =
  /^(?:guardrail|guardrailIdentifier|guardrailVersion|mode|default_on|api_key|api_base|model|pii_entities_config|aws_(?!role|profile|session_name).*)$/;

interface Guardrail {
  readonly name: string;
  readonly at: string;
  readonly params: ConfigEntry;
  readonly unset: ReadonlyMap<string, string>;
  readonly common: ConfigEntry;
}

/** Adds a configuration for each guardrail that has an equivalent, and a note for each of the others. */
export function addGuardrails(given: ConfigValue | undefined, group: string, variables: Variables, into: Imported): void {
  for (const one of Array.isArray(given) ? given.filter(isConfigEntry) : []) {
    const name = String(one["guardrail_name"]);
    const at = `guardrails "${name}"`;
    const { found: params, unset } = variables.resolved(isConfigEntry(one["litellm_params"]) ? one["litellm_params"] : {});
    const convert = CONVERTED[String(params["guardrail"])];
    const surfaces = surfacesOf(params["mode"]);
    if (convert === undefined || surfaces === null) {
      into.note(`${at}: ${BY_HAND}`);
      continue;
    }
    const isOn = params["default_on"] === true;
    const common = { group_ids: [group], surfaces, ...(isOn ? {} : { enabled: false }) };
    if (!convert({ name, at, params, unset, common }, into)) continue;
    if (!isOn)
      into.note(
        `${at}: callers choose it with each request, which has no equivalent; it is switched off until you enable it for the group`,
      );
    for (const member of Object.keys(params)) if (!READ.test(member)) into.note(`${at}.${member}: has no equivalent`);
  }
}

/** Null for modes that inspect nothing before it is used, and for modes that depend on the caller. */
function surfacesOf(mode: ConfigValue | undefined): ConfigEntry | null {
  const modes = Array.isArray(mode) ? (mode as readonly ConfigValue[]) : [mode ?? "pre_call"];
  const names = modes.map((one) => (typeof one === "string" ? SURFACES[one] : undefined));
  if (names.includes(undefined)) return null;
  return Object.fromEntries(names.flatMap((some) => some ?? []).map((surface) => [surface, true]));
}

/** Each returns whether it added a record, and has noted why if not. */
const CONVERTED: Readonly<Record<string, (guardrail: Guardrail, into: Imported) => boolean>> = {
  presidio: addPersonalData,
  "hide-secrets": (guardrail, into) => add(guardrail, { builtin: { secrets_enabled: true, secrets_action: "redact" } }, into),
  openai_moderation: addModeration,
  bedrock: addBedrock,
  "azure/prompt_shield": addAzure,
  "azure/text_moderations": addAzure,
};

function add({ name, common }: Guardrail, checks: ConfigEntry, into: Imported, suffix = ""): true {
  const free = into.freeName("guardrail_configs", `${name}${suffix}`);
  into.add("guardrail_configs", free, { name: free, ...common, ...checks });
  return true;
}

/** A configuration has one action for personal data, so masked and blocked entities become two. */
function addPersonalData(guardrail: Guardrail, into: Imported): boolean {
  const { at, params } = guardrail;
  const entities = params["pii_entities_config"];
  if (!isConfigEntry(entities)) return add(guardrail, { builtin: { pii_enabled: true, pii_action: "redact" } }, into);
  const byAction = new Map<string, string[]>();
  for (const [entity, action] of Object.entries(entities)) {
    const category = ENTITIES[entity];
    if (category === undefined)
      into.note(`${at}.pii_entities_config.${entity}: is not found by the built-in check; a webhook engine may find it`);
    else {
      const ours = action === "BLOCK" ? "block" : "redact";
      byAction.set(ours, [...(byAction.get(ours) ?? []), category]);
    }
  }
  for (const [action, categories] of byAction) {
    const suffix = byAction.size > 1 ? ` (${action})` : "";
    add(guardrail, { builtin: { pii_enabled: true, pii_action: action, pii_categories: categories } }, into, suffix);
  }
  return byAction.size > 0;
}

function addModeration(guardrail: Guardrail, into: Imported): boolean {
  const { model = null, api_base: endpoint = null } = guardrail.params;
  return add(guardrail, { providers: [{ provider: "openai_moderation", model, endpoint, api_key: keyOf(guardrail, into) }] }, into);
}

function addBedrock(guardrail: Guardrail, into: Imported): boolean {
  const { at, params, unset } = guardrail;
  const { guardrailIdentifier: identifier, guardrailVersion: version, aws_region_name: region = "us-east-1" } = params;
  const missing = unset.get("guardrailIdentifier") ?? unset.get("aws_region_name");
  if (missing !== undefined || typeof identifier !== "string") return leftOut(at, "guardrailIdentifier", missing, into);
  const account = JSON.stringify([params["aws_access_key_id"], params["aws_secret_access_key"]]);
  const engine = {
    provider: "bedrock_guardrails",
    endpoint: `https://bedrock-runtime.${String(region)}.amazonaws.com`,
    identifier,
    ...(version === undefined ? {} : { version: String(version) }),
    api_key: into.namedSecret(
      `bedrock guardrail ${account}`,
      "BEDROCK_GUARDRAIL_CREDENTIALS",
      `${at}: AWS_ACCESS_KEY_ID:AWS_SECRET_ACCESS_KEY of the account, with :SESSION_TOKEN where there is one`,
    ),
  };
  return add(guardrail, { providers: [engine] }, into);
}

function addAzure(guardrail: Guardrail, into: Imported): boolean {
  const { at, params, unset } = guardrail;
  const { api_base: endpoint } = params;
  if (typeof endpoint !== "string") return leftOut(at, "address", unset.get("api_base"), into);
  into.note(`${at}: azure_content_safety checks both harm categories and attacks, whichever of them LiteLLM checked`);
  return add(guardrail, { providers: [{ provider: "azure_content_safety", endpoint, api_key: keyOf(guardrail, into) }] }, into);
}

function leftOut(at: string, what: string, missing: string | undefined, into: Imported): false {
  into.note(`${at}: was left out, because its ${what} is not known${missing === undefined ? "" : `: ${notSet(missing)}`}`);
  return false;
}

function keyOf({ name, at, params }: Guardrail, into: Imported): ConfigEntry {
  const key = params["api_key"] ?? (params["guardrail"] === "openai_moderation" ? "os.environ/OPENAI_API_KEY" : undefined);
  const variable = variableNamed(key);
  if (variable !== null) return into.secret(variable, "the same variable as today");
  return into.namedSecret(`guardrail ${name} ${JSON.stringify(key)}`, variableOf(`${name}_key`), `${at}: its api_key`);
}

import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import { addConfiguration, type Guardrail } from "./litellm-guardrail.ts";
import { addPersonalData } from "./litellm-personal-data.ts";
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

const BY_HAND = "make a guardrail configuration (docs/guides/guardrails.md); secrets and personal data are found without another service";
/** Members that need no note. */
const READ =
  /^(?:guardrail|guardrailIdentifier|guardrailVersion|mode|default_on|api_key|api_base|model|pii_entities_config|output_parse_pii|presidio_analyzer_api_base|presidio_anonymizer_api_base|presidio_language|presidio_score_thresholds|aws_(?!role|profile|session_name).*)$/;

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
    if (!convert({ name, at, params, unset, common, variables }, into)) continue;
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
  "hide-secrets": (guardrail, into) => addConfiguration(guardrail, { builtin: { secrets_enabled: true, secrets_action: "redact" } }, into),
  openai_moderation: addModeration,
  bedrock: addBedrock,
  "azure/prompt_shield": addAzure,
  "azure/text_moderations": addAzure,
};

function addModeration(guardrail: Guardrail, into: Imported): boolean {
  const { model = null, api_base: endpoint = null } = guardrail.params;
  return addConfiguration(
    guardrail,
    { providers: [{ provider: "openai_moderation", model, endpoint, api_key: keyOf(guardrail, into) }] },
    into,
  );
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
  return addConfiguration(guardrail, { providers: [engine] }, into);
}

function addAzure(guardrail: Guardrail, into: Imported): boolean {
  const { at, params, unset } = guardrail;
  const { api_base: endpoint } = params;
  if (typeof endpoint !== "string") return leftOut(at, "address", unset.get("api_base"), into);
  into.note(`${at}: azure_content_safety checks both harm categories and attacks, whichever of them LiteLLM checked`);
  return addConfiguration(
    guardrail,
    { providers: [{ provider: "azure_content_safety", endpoint, api_key: keyOf(guardrail, into) }] },
    into,
  );
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

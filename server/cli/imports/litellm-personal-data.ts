import { isConfigEntry, type ConfigEntry } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import { addConfiguration, type Guardrail } from "./litellm-guardrail.ts";
import { notSet } from "./litellm-variables.ts";

/** Where LiteLLM finds Presidio if its file does not say. */
const ANALYZER = "PRESIDIO_ANALYZER_API_BASE";

/** Presidio's entities that the built-in check finds. */
const ENTITIES: Readonly<Record<string, string>> = {
  EMAIL_ADDRESS: "email",
  PHONE_NUMBER: "phone",
  CREDIT_CARD: "credit_card",
  US_SSN: "ssn",
  IBAN_CODE: "iban",
  CRYPTO: "crypto_wallet",
  IP_ADDRESS: "ip_address",
  US_ITIN: "us_itin",
  US_PASSPORT: "passport",
  US_DRIVER_LICENSE: "driver_license",
  UK_NHS: "uk_nhs",
  UK_NINO: "uk_nino",
  ES_NIF: "es_dni",
  ES_NIE: "es_dni",
  IT_FISCAL_CODE: "it_codice_fiscale",
  IT_VAT_CODE: "eu_vat",
  IT_PASSPORT: "passport",
  IT_DRIVER_LICENSE: "driver_license",
  PL_PESEL: "pl_pesel",
  SG_NRIC_FIN: "sg_nric",
  AU_ABN: "au_abn",
  AU_TFN: "au_tfn",
  AU_MEDICARE: "au_medicare",
  IN_PAN: "in_pan",
  IN_AADHAAR: "in_aadhaar",
  IN_PASSPORT: "passport",
  FI_PERSONAL_IDENTITY_CODE: "fi_hetu",
};
/** LiteLLM's name for the threshold that has no entity of its own. */
const ANY_ENTITY = "ALL";

/** With its analyzer's address it stays with Presidio; otherwise the built-in check looks for the same kinds. */
export function addPersonalData(guardrail: Guardrail, into: Imported): boolean {
  const { at, params, unset, variables } = guardrail;
  const missing = unset.get("presidio_analyzer_api_base");
  if (missing !== undefined)
    into.note(`${at}.presidio_analyzer_api_base: ${notSet(missing)}; the built-in check is used instead of Presidio`);
  const endpoint = params["presidio_analyzer_api_base"] ?? (missing === undefined ? variables.valueOf(ANALYZER) : null);
  const restore: ConfigEntry = params["output_parse_pii"] === true ? { pii_restore: true } : {};
  return typeof endpoint === "string" ? addPresidio(guardrail, endpoint, restore, into) : addBuiltIn(guardrail, restore, into);
}

/** One engine for each action. */
function addPresidio(guardrail: Guardrail, endpoint: string, restore: ConfigEntry, into: Imported): boolean {
  const { at, params } = guardrail;
  const { presidio_language: language, presidio_score_thresholds: scores } = params;
  const byAction = new Map<string, string[]>();
  for (const [entity, action] of Object.entries(isConfigEntry(params["pii_entities_config"]) ? params["pii_entities_config"] : {})) {
    const ours = action === "BLOCK" ? "block" : "redact";
    byAction.set(ours, [...(byAction.get(ours) ?? []), entity]);
  }
  const threshold = isConfigEntry(scores) ? scores[ANY_ENTITY] : scores;
  if (isConfigEntry(scores) && Object.keys(scores).some((entity) => entity !== ANY_ENTITY))
    into.note(`${at}.presidio_score_thresholds: an engine has one threshold for all entities`);
  const engine = {
    provider: "presidio",
    endpoint,
    ...(typeof language === "string" ? { language } : {}),
    ...(typeof threshold === "number" ? { threshold } : {}),
  };
  const engines =
    byAction.size === 0 ? [{ ...engine, action: "redact" }] : [...byAction].map(([action, entities]) => ({ ...engine, action, entities }));
  return addConfiguration(guardrail, { ...(Object.keys(restore).length > 0 ? { builtin: restore } : {}), providers: engines }, into);
}

/** A configuration has one action for personal data, so masked and blocked entities become two. */
function addBuiltIn(guardrail: Guardrail, restore: ConfigEntry, into: Imported): boolean {
  const { at, params } = guardrail;
  const entities = params["pii_entities_config"];
  const masked = { pii_enabled: true, pii_action: "redact", ...restore };
  if (!isConfigEntry(entities)) return addConfiguration(guardrail, { builtin: masked }, into);
  const byAction = new Map<string, Set<string>>();
  for (const [entity, action] of Object.entries(entities)) {
    const category = ENTITIES[entity];
    if (category === undefined)
      into.note(`${at}.pii_entities_config.${entity}: is not found by the built-in check; the engine presidio finds it`);
    else {
      const ours = action === "BLOCK" ? "block" : "redact";
      byAction.set(ours, (byAction.get(ours) ?? new Set()).add(category));
    }
  }
  for (const [action, categories] of byAction) {
    const suffix = byAction.size > 1 ? ` (${action})` : "";
    const builtin = action === "block" ? { pii_enabled: true, pii_action: "block" } : masked;
    addConfiguration(guardrail, { builtin: { ...builtin, pii_categories: [...categories] } }, into, suffix);
  }
  return byAction.size > 0;
}

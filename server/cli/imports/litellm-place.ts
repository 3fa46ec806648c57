import type { ConfigEntry, ConfigValue } from "../configuration/value.ts";
import { isConfigEntry } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import { addressVariablesOf, LITELLM_PROVIDERS, type ProviderByPrefix } from "./litellm-providers.ts";
import { notSet, variableNamed, type Variables } from "./litellm-variables.ts";
import { signedRegion } from "./signed-region.ts";
import { keyFor, variableOf } from "./written-names.ts";

/** What an entry says about the location of its model. */
export interface WhereItIs {
  readonly params: ConfigEntry;
  /** Members that refer to unset variables, with these variables. */
  readonly unset: ReadonlyMap<string, string>;
  /** How notes and variable names refer to the entry. */
  readonly at: string;
  readonly place: string;
}

/** Where the address of a format's models is configured: the first of these that the entry or the environment has. */
interface Address {
  readonly members: readonly string[];
  readonly variables: readonly string[];
}

const ADDRESS_MEMBERS = ["api_base", "base_url"];
const BEDROCK_MEMBERS = [...ADDRESS_MEMBERS, "aws_bedrock_runtime_endpoint"];
const AWS_REGION: Address = { members: ["aws_region_name", "region_name"], variables: ["AWS_REGION_NAME", "AWS_REGION"] };
const VERTEX_LOCATION: Address = { members: ["vertex_location"], variables: ["VERTEXAI_LOCATION", "VERTEX_LOCATION"] };
const VERTEX_PROJECT: Address = { members: ["vertex_project"], variables: ["VERTEXAI_PROJECT", "VERTEX_PROJECT"] };

/**
 * The key of the provider's record, created unless an earlier entry had the same location and credential. Null if impossible; see the
 * notes.
 */
export function providerAt(prefix: string, given: WhereItIs, variables: Variables, into: Imported): string | null {
  const { params, at } = given;
  const known = LITELLM_PROVIDERS[prefix];
  if (known === undefined) {
    into.note(`${at}: there is no provider here for "${prefix}", so it was left out; if it speaks OpenAI's API, add it by hand`);
    return null;
  }
  const baseUrl = baseUrlOf(prefix, known, given, variables);
  if ("missing" in baseUrl) {
    into.note(`${at}: was left out, because its address is not known: ${baseUrl.missing}`);
    return null;
  }
  const region = locate(AWS_REGION, given, variables);
  const record: Record<string, ConfigValue> = {
    ...{ api_format: known.format, base_url: baseUrl.found },
    ...signedRegion(known.format, baseUrl.found, "found" in region ? region.found : null),
  };
  const sent = headersOf(params, at, into);
  if (Object.keys(sent).length > 0) record["headers"] = sent;
  const secret = secretOf(known, prefix, given, into);
  if (secret !== null) record["api_key"] = secret;
  return into.provider(keyFor(prefix.replaceAll("_", "-")), record);
}

function headersOf(params: ConfigEntry, at: string, into: Imported): ConfigEntry {
  const given = isConfigEntry(params["extra_headers"]) ? params["extra_headers"] : params["headers"];
  const sent: Record<string, ConfigValue> = {};
  for (const [name, value] of Object.entries(isConfigEntry(given) ? given : {}))
    if (/auth|key|token|secret|cookie|password|credential/i.test(name))
      into.note(`${at}: its header ${name} carries a credential, which is a provider's api_key alone`);
    else sent[name] = typeof value === "string" ? value : JSON.stringify(value);
  const organization = params["organization"];
  return typeof organization === "string" ? { ...sent, "openai-organization": organization } : sent;
}

type Found = { readonly found: string } | { readonly missing: string };

function locate(address: Address, { params, unset }: WhereItIs, variables: Variables): Found {
  for (const member of address.members) {
    const value = params[member];
    if (typeof value === "string" && value !== "") return { found: value };
    // If the entry's variable is unset, the vendor's default address would be another place that would receive its key.
    const variable = unset.get(member);
    if (variable !== undefined) return { missing: notSet(variable) };
  }
  const variable = address.variables.find((name) => variables.valueOf(name) !== null);
  if (variable !== undefined) return { found: variables.valueOf(variable) ?? "" };
  const also = address.variables.length === 0 ? "" : ` (or set ${address.variables[0] ?? ""} and import again)`;
  return { missing: `${address.members[0] ?? ""} is not in the file${also}` };
}

function baseUrlOf(prefix: string, known: ProviderByPrefix, given: WhereItIs, variables: Variables): Found {
  const { params } = given;
  const isAzure = known.format === "azure_openai";
  const members = known.format === "bedrock" ? BEDROCK_MEMBERS : ADDRESS_MEMBERS;
  const address = locate({ members, variables: addressVariablesOf(prefix, known) }, given, variables);
  if ("found" in address) return { found: asWritten(prefix, isAzure, address.found, params) };
  if (members.some((member) => given.unset.has(member)) || isAzure) return address;
  if (known.format === "bedrock") {
    const region = locate(AWS_REGION, given, variables);
    return "missing" in region ? region : { found: `https://bedrock-runtime.${region.found}.amazonaws.com` };
  }
  if (known.format === "vertex") {
    const location = locate(VERTEX_LOCATION, given, variables);
    if ("missing" in location) return location;
    const host = location.found === "global" ? "https://aiplatform.googleapis.com" : `https://${location.found}-aiplatform.googleapis.com`;
    const project = locate(VERTEX_PROJECT, given, variables);
    if ("found" in project) return { found: `${host}/v1/projects/${project.found}/locations/${location.found}` };
    return given.unset.has("vertex_project") ? project : { found: host };
  }
  return known.baseUrl === null ? address : { found: known.baseUrl };
}

function asWritten(prefix: string, isAzure: boolean, address: string, params: ConfigEntry): string {
  const version = params["api_version"];
  if (isAzure && typeof version === "string" && /\/deployments\//.test(address))
    return `${address.replace(/\?.*/, "")}?api-version=${version}`;
  // LiteLLM uses Ollama's own API, the gateway its OpenAI-compatible one.
  if (prefix.startsWith("ollama") && !/\/v1\/?$/.test(address)) return `${address.replace(/\/+$/, "")}/v1`;
  return address;
}

/** The members that distinguish AWS accounts. */
const AWS_ACCOUNT = [
  "aws_access_key_id",
  "aws_secret_access_key",
  "aws_session_token",
  "aws_profile_name",
  "aws_role_name",
  "aws_session_name",
  "aws_web_identity_token",
] as const;

/** Where the credential will come from. A plain secret in LiteLLM's file is not copied into the new file. */
function secretOf(known: ProviderByPrefix, prefix: string, { params, at, place }: WhereItIs, into: Imported): ConfigEntry | null {
  const given = params["api_key"];
  const variable = variableNamed(given);
  if (variable !== null && known.format !== "vertex") return into.secret(variable, "the same variable as today");
  if (known.format === "bedrock" && typeof given !== "string") {
    const isOwn = typeof params["aws_access_key_id"] === "string";
    const wanted = isOwn ? variableOf(`${prefix}_${String(params["aws_region_name"] ?? "")}_credentials`) : "BEDROCK_CREDENTIALS";
    const identity = JSON.stringify(AWS_ACCOUNT.map((member) => params[member] ?? null));
    const standsAt = `${at}: AWS_ACCESS_KEY_ID:AWS_SECRET_ACCESS_KEY of the account, with :SESSION_TOKEN where there is one`;
    return into.namedSecret(`aws ${identity}`, wanted, standsAt);
  }
  if (known.format === "vertex") {
    const standsAt = `${at}: the JSON key file of the service account, as text or in base64`;
    return into.namedSecret(`vertex ${JSON.stringify(params["vertex_credentials"] ?? null)}`, "VERTEX_SERVICE_ACCOUNT", standsAt);
  }
  if (typeof given === "string" && given !== "")
    return into.namedSecret(`${prefix} ${given}`, variableOf(`${prefix}_${place}_api_key`), `${at}.litellm_params.api_key`);
  return known.keyVariable === null ? null : into.secret(known.keyVariable, "the same variable as today");
}

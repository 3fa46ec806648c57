import { knownName } from "./json/governed-names.ts";
import { isObject, type JsonObject, type JsonValue } from "../kernel/json-value.ts";
import { asksNothing } from "./json/document.ts";
import { toolsBetween } from "./messages/tools-between.ts";
import { objectsOf } from "./openai/loose-fields.ts";

const foldings = (names: string): ReadonlySet<string> =>
  new Set(
    names
      .trim()
      .split(/\s+/)
      .map((name) => knownName(name).folding),
  );

/** Members that tell a multi-model server to use models other than the one in `model`. */
const NAMING = foldings(`
  models fallbacks fallback_models fallback_providers default_fallbacks context_window_fallbacks context_window_fallback_dict
  content_policy_fallbacks model_list router_settings_override user_config compound_custom
`);
/** Names inside vendor-specific settings; `model` there may differ from the request's model. */
const WITHIN = new Set([...NAMING, ...foldings("model model_id analysis_models judge_model")]);
/** The members that hold such settings. */
const SETTINGS = foldings("extra_body providerOptions provider_options provider plugins gateway orq litellm_params");
const ROUTE = knownName("route").folding;

/** Tool types with which a model asks another model; OpenRouter and others prefix them. */
const ASKS_ANOTHER = /^(?:[a-z]+:)?(?:advisor|fusion|subagent)(?:_\d{8})?$/;

/**
 * The members of a request that name models beside its own. Servers that support them may answer with any of those models,
 * but access, limits and prices were only checked for the request's own model.
 */
export function otherModels(body: JsonObject): readonly string[] {
  const fields: string[] = [];
  for (const name in body) {
    const value = body[name];
    const { folding } = knownName(name.endsWith("[]") ? name.slice(0, -2) : name);
    if (NAMING.has(folding) ? isPresent(value) : folding === ROUTE && value === "fallback") fields.push(name);
    else if (SETTINGS.has(folding)) namesWithin(value, name, fields);
  }
  for (const tool of hostedTools(body))
    if (typeof tool.type === "string" && ASKS_ANOTHER.test(tool.type)) fields.push(`tools (${tool.type})`);
  return fields;
}

function isPresent(value: JsonValue | undefined): boolean {
  return value !== false && value !== "" && !asksNothing(value);
}

function namesWithin(value: JsonValue | undefined, place: string, fields: string[]): void {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) namesWithin(item, `${place}[${at}]`, fields);
  } else if (isObject(value)) {
    if (value.id === "fusion") fields.push(`${place}.id`);
    for (const [name, member] of Object.entries(value)) {
      const { folding } = knownName(name);
      if (WITHIN.has(folding) ? isPresent(member) : folding === ROUTE && member === "fallback") fields.push(`${place}.${name}`);
      else namesWithin(member, `${place}.${name}`, fields);
    }
  }
}

function* hostedTools(body: JsonObject): Generator<JsonObject> {
  for (const [tool] of objectsOf(body.tools)) yield tool;
  for (const [item] of objectsOf(body.input)) for (const [tool] of objectsOf(item.tools)) yield tool;
  yield* toolsBetween(body);
}

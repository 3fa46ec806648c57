import { referredSchema } from "./members.ts";
import { isConfigEntry, type ConfigEntry, type ConfigValue } from "./value.ts";

/** Checks a value against the gateway's schema: type, allowed values, bounds. The gateway checks the rest when it is asked. */
export function faultsOf(document: ConfigEntry, schema: unknown, value: ConfigValue | undefined, at: string): string[] {
  const one = referredSchema(document, schema);
  // The plan decides what null means.
  if (!isConfigEntry(one) || value === undefined || value === null) return [];
  if (Array.isArray(one["anyOf"])) return faultsOfChoices(document, one["anyOf"], value, at);
  const { type } = one;
  if (typeof type === "string" && !isOfType(type, value)) return [`${at} must be ${worded(type)}`];
  const choices = one["enum"];
  if (Array.isArray(choices) && !choices.includes(value)) return [`${at} must be one of ${choices.join(", ")}`];
  if (typeof value === "number") return boundsOf(one, value).map((fault) => `${at} ${fault}`);
  if (Array.isArray(value)) return value.flatMap((item, n) => faultsOf(document, one["items"], item as ConfigValue, `${at}[${n}]`));
  const properties = one["properties"];
  if (!isConfigEntry(value) || !isConfigEntry(properties)) return [];
  return Object.entries(value).flatMap(([member, inner]) =>
    properties[member] === undefined && one["additionalProperties"] === false
      ? [`${at}.${member} is not known here`]
      : faultsOf(document, properties[member], inner, `${at}.${member}`),
  );
}

function faultsOfChoices(document: ConfigEntry, choices: readonly unknown[], value: ConfigValue, at: string): string[] {
  const schemas = choices.map((choice) => referredSchema(document, choice)).filter((one) => !isConfigEntry(one) || one["type"] !== "null");
  const faults = schemas.map((schema) => faultsOf(document, schema, value, at));
  if (faults.some((some) => some.length === 0)) return [];
  return schemas.length === 1 ? (faults[0] ?? []) : [`${at} is nothing that can stand there`];
}

function isOfType(type: string, value: ConfigValue): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isConfigEntry(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function worded(type: string): string {
  const named: Readonly<Record<string, string>> = {
    array: "a list",
    object: "a mapping",
    integer: "a whole number",
    boolean: "true or false",
  };
  return named[type] ?? (type === "string" ? "text" : `a ${type}`);
}

function boundsOf(schema: ConfigEntry, value: number): string[] {
  const { minimum, maximum, exclusiveMinimum: above } = schema;
  if (typeof minimum === "number" && value < minimum) return [`must be at least ${minimum}`];
  if (typeof above === "number" && value <= above) return [`must be more than ${above}`];
  if (typeof maximum === "number" && value > maximum) return [`must be at most ${maximum}`];
  return [];
}

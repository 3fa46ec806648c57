import { isConfigEntry, type ConfigEntry } from "./value.ts";

/** The members of a request body according to the gateway's OpenAPI document. */
export function membersTaken(document: ConfigEntry, method: string, path: string): ReadonlySet<string> {
  // The tenant is specified once for the whole file.
  return new Set(Object.keys(propertiesOf(document, method, path)).filter((member) => member !== "tenant_id"));
}

/** Those of them that may be null, where null and an empty list differ, such as all tools and none. */
export function membersTakingNull(document: ConfigEntry, method: string, path: string): ReadonlySet<string> {
  const takesNull = (schema: unknown): boolean => {
    const one = referredSchema(document, schema);
    const choices = at(one, "anyOf");
    return at(one, "type") === "null" || (Array.isArray(choices) && choices.some(takesNull));
  };
  const properties = Object.entries(propertiesOf(document, method, path));
  return new Set(properties.filter(([, schema]) => takesNull(schema)).map(([member]) => member));
}

/** The members of a request body, each with its schema. */
export function propertiesOf(document: ConfigEntry, method: string, path: string): ConfigEntry {
  const operation = at(at(at(document, "paths"), path), method.toLowerCase());
  const content = at(at(operation, "requestBody"), "content");
  const schema = referredSchema(document, at(at(content, "application/json"), "schema"));
  const properties = at(schema, "properties");
  if (!isConfigEntry(properties)) throw new Error(`the gateway's document knows no body of ${method} ${path}: is it of another release?`);
  return properties;
}

function at(value: unknown, name: string): unknown {
  return isConfigEntry(value) ? value[name] : undefined;
}

export function referredSchema(document: ConfigEntry, schema: unknown): unknown {
  const ref = at(schema, "$ref");
  if (typeof ref !== "string") return schema;
  return ref
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((value, name) => at(value, name), document);
}

import { isConfigEntry, type ConfigEntry } from "./value.ts";

/** The members that a request's body takes, as the gateway's own document says. */
export function membersTaken(document: ConfigEntry, method: string, path: string): ReadonlySet<string> {
  const operation = at(at(at(document, "paths"), path), method.toLowerCase());
  const content = at(at(operation, "requestBody"), "content");
  const schema = resolved(document, at(at(content, "application/json"), "schema"));
  const properties = at(schema, "properties");
  if (!isConfigEntry(properties)) throw new Error(`the gateway's document knows no body of ${method} ${path}: is it of another release?`);
  // Which tenant is meant is said once, for all.
  return new Set(Object.keys(properties).filter((member) => member !== "tenant_id"));
}

function at(value: unknown, name: string): unknown {
  return isConfigEntry(value) ? value[name] : undefined;
}

function resolved(document: ConfigEntry, schema: unknown): unknown {
  const ref = at(schema, "$ref");
  if (typeof ref !== "string") return schema;
  return ref
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((value, name) => at(value, name), document);
}

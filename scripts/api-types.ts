/** Generates TypeScript types from an OpenAPI document for the typed client of web/kit. Supports only what our own documents use. */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** How a type refers to a schema by its ID. */
type Refer = (id: string) => string;

/** Aliases, because only an alias may refer to itself, as free-form JSON does. */
const aliasOf: Refer = (id) => `Schema_${id.replaceAll(/\W/g, "_")}`;

function typeOf(schema: unknown, refer: Refer): string {
  if (!isObject(schema) || Object.keys(schema).length === 0) return "unknown";
  if (typeof schema.$ref === "string") return refer(schema.$ref.split("/").at(-1) ?? "");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  for (const [key, by] of [
    ["anyOf", " | "],
    ["oneOf", " | "],
    ["allOf", " & "],
  ] as const)
    if (Array.isArray(schema[key])) return `(${[...new Set(schema[key].map((one) => typeOf(one, refer)))].join(by)})`;
  if (Array.isArray(schema.type)) return `(${schema.type.map((type) => typeOf({ ...schema, type }, refer)).join(" | ")})`;
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return `readonly (${typeOf(schema.items, refer)})[]`;
    default:
      return objectType(schema, refer);
  }
}

function objectType({ properties, required, additionalProperties }: Json, refer: Refer): string {
  const names = Array.isArray(required) ? required : [];
  const members = Object.entries(isObject(properties) ? properties : {}).map(
    ([name, schema]) => `${JSON.stringify(name)}${names.includes(name) ? "" : "?"}: ${typeOf(schema, refer)};`,
  );
  if (members.length > 0) return `{ ${members.join(" ")} }`;
  return additionalProperties === false ? "Record<never, never>" : `{ [name: string]: ${typeOf(additionalProperties, refer)} }`;
}

/** The type of a body: of its JSON content if there is any, else of its first content. */
function contentType(content: unknown, refer: Refer): string | null {
  if (!isObject(content)) return null;
  const json = content["application/json"];
  if (isObject(json)) return typeOf(json.schema, refer);
  return "multipart/form-data" in content ? "FormData" : "Blob";
}

function operationType(operation: Json, refer: Refer): string {
  const parameters = (Array.isArray(operation.parameters) ? operation.parameters : []) as Json[];
  const of = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required, schema }) => `${JSON.stringify(name)}${required === true ? "" : "?"}: ${typeOf(schema, refer)};`);
  const lines: string[] = [];
  if (of("path").length > 0) lines.push(`path: { ${of("path").join(" ")} };`);
  if (of("query").length > 0) lines.push(`query?: { ${of("query").join(" ")} };`);
  const { requestBody, responses } = operation as { requestBody?: Json; responses: Json };
  if (requestBody !== undefined) {
    const body = contentType(requestBody.content, refer);
    if (body !== null) lines.push(`body${requestBody.required === true ? "" : "?"}: ${body};`);
  }
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2") || status === "302") ?? [];
  lines.push(`answer: ${contentType(isObject(success) ? success.content : undefined, refer) ?? "null"};`);
  return `{ ${lines.join(" ")} }`;
}

const MADE = "// Made by npm run docs from the OpenAPI document. Changes here are lost.\n";

export interface ApiModules {
  /** Declares `<name>Schemas`: the API's schemas, by their names in the document. */
  readonly schemas: string;
  /** Declares `<name>`: one member per operation, `"METHOD /path"`. */
  readonly operations: string;
}

/** `schemasPath`: import path of the schemas module, as seen from the operations module. */
export function apiTypes(name: string, schemasPath: string, document: object): ApiModules {
  const { paths, components } = document as { paths: Record<string, Record<string, Json>>; components?: { schemas?: Json } };
  const schemas = Object.entries(components?.schemas ?? {});
  const member: Refer = (id) => `${name}Schemas[${JSON.stringify(id)}]`;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => `  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${operationType(operation, member)};`,
    ),
  );
  return {
    schemas:
      MADE +
      `${schemas.map(([id, schema]) => `type ${aliasOf(id)} = ${typeOf(schema, aliasOf)};`).join("\n")}\n\n` +
      "/** The records of the API, by the names its document gives them. */\n" +
      `export interface ${name}Schemas {\n${schemas.map(([id]) => `  ${JSON.stringify(id)}: ${aliasOf(id)};`).join("\n")}\n}\n`,
    operations: `${MADE}import type { ${name}Schemas } from "${schemasPath}";\n\nexport interface ${name} {\n${operations.join("\n")}\n}\n`,
  };
}

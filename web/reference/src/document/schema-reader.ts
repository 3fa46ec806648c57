import type { DocumentSchema } from "./api-document.ts";

export interface SchemaMember {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly about: string;
}

export interface SchemaReader {
  resolve(schema: DocumentSchema | undefined): DocumentSchema;
  typeOf(schema: DocumentSchema | undefined): string;
  /** Members at every depth by path: `budget.hard_stop`, `rules[].message`, `text.*` for names the caller chooses. */
  membersOf(schema: DocumentSchema | undefined): SchemaMember[];
  /** A sample value with the required members. */
  sampleOf(schema: DocumentSchema | undefined): unknown;
}

const MAX_SAMPLE_DEPTH = 4;
const EMPTY: Readonly<Record<string, unknown>> = { string: "", integer: 0, number: 0, boolean: true, array: [], object: {} };

/** Reads schemas that may reference these. */
export function schemaReader(schemas: Readonly<Record<string, DocumentSchema>>): SchemaReader {
  const resolve = (schema: DocumentSchema | undefined): DocumentSchema =>
    schema?.$ref === undefined ? (schema ?? {}) : (schemas[schema.$ref.split("/").pop() ?? ""] ?? {});
  /** Recursive schemas are followed once. */
  const entered = (schema: DocumentSchema | undefined, within: readonly string[]) =>
    schema?.$ref === undefined ? within : [...within, schema.$ref];
  const isWithin = (schema: DocumentSchema | undefined, within: readonly string[]) =>
    schema?.$ref !== undefined && within.includes(schema.$ref);
  const formsOf = (real: DocumentSchema) => real.anyOf ?? real.oneOf;

  function typeOf(schema: DocumentSchema | undefined, within: readonly string[] = []): string {
    if (isWithin(schema, within)) return "any";
    const known = entered(schema, within);
    const real = resolve(schema);
    if (real.enum !== undefined) return real.enum.map((value) => JSON.stringify(value)).join(" | ");
    if (real.const !== undefined) return JSON.stringify(real.const);
    const forms = formsOf(real);
    if (forms !== undefined) return [...new Set(forms.map((one) => typeOf(one, known)))].join(" | ");
    if (real.type === "array") {
      const item = typeOf(real.items, known);
      return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
    }
    const type = typeof real.type === "string" ? real.type : (real.type?.join(" | ") ?? "any");
    return real.format === undefined ? type : `${type} (${real.format})`;
  }

  function membersOf(schema: DocumentSchema | undefined, path = "", within: readonly string[] = []): SchemaMember[] {
    if (isWithin(schema, within)) return [];
    const known = entered(schema, within);
    const real = resolve(schema);
    const forms = formsOf(real);
    if (forms !== undefined) return distinct(forms.flatMap((one) => membersOf(one, path, known)));
    if (real.type === "array") return membersOf(real.items, `${path}[]`, known);
    const named = Object.entries(real.properties ?? {}).flatMap(([name, member]) => {
      const at = path === "" ? name : `${path}.${name}`;
      const about = member.description ?? resolve(member).description ?? "";
      return [{ name: at, type: typeOf(member), required: real.required?.includes(name) ?? false, about }, ...membersOf(member, at, known)];
    });
    const others =
      typeof real.additionalProperties === "object" ? membersOf(real.additionalProperties, path === "" ? "*" : `${path}.*`, known) : [];
    return [...named, ...others];
  }

  function sampleOf(schema: DocumentSchema | undefined, depth = 0): unknown {
    const real = resolve(schema);
    if (real.enum !== undefined) return real.enum[0];
    if (real.const !== undefined) return real.const;
    const forms = formsOf(real);
    if (forms !== undefined) return sampleOf(forms[0], depth + 1);
    if (depth >= MAX_SAMPLE_DEPTH) return null;
    if (real.properties !== undefined)
      return Object.fromEntries((real.required ?? []).map((name) => [name, sampleOf(real.properties?.[name], depth + 1)]));
    if (real.type === "array" && real.items !== undefined && depth < MAX_SAMPLE_DEPTH - 1) return [sampleOf(real.items, depth + 1)];
    const type = typeof real.type === "string" ? real.type : real.type?.find((one) => one !== "null");
    return EMPTY[type ?? ""] ?? null;
  }

  return { resolve, typeOf: (schema) => typeOf(schema), membersOf: (schema) => membersOf(schema), sampleOf: (schema) => sampleOf(schema) };
}

/** Members shared by alternatives are listed once. */
function distinct(members: readonly SchemaMember[]): SchemaMember[] {
  return [...new Map(members.map((member) => [JSON.stringify(member), member])).values()];
}

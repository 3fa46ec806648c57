import { z } from "zod";

export type OpenApiNode = Record<string, unknown>;

/** The names of the parameters of a path such as `/v1/admin/tenants/{id}`. */
export function paramsOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
}

/** JSON Schema of a zod schema. One with an ID is added to the components and referenced. */
export function schemaOf(schema: z.ZodType, io: "input" | "output", components: OpenApiNode): OpenApiNode {
  const made = z.toJSONSchema(schema, { target: "draft-2020-12", io, unrepresentable: "any" }) as OpenApiNode;
  const { $schema: _dialect, $defs: definitions, ...rest } = made;
  for (const [id, definition] of Object.entries((definitions ?? {}) as OpenApiNode)) components[id] = relinked(definition);
  const id = schema.meta()?.id;
  const own = relinked(rest) as OpenApiNode;
  if (id === undefined) return own;
  components[id] ??= own;
  return { $ref: `#/components/schemas/${id}` };
}

/** Points references to the components, and drops the IDs that the definitions repeat. */
function relinked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relinked);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key, member]) => !(key === "id" && typeof member === "string" && "type" in value));
  return Object.fromEntries(
    entries.map(([key, member]) => [
      key,
      key === "$ref" && typeof member === "string" ? member.replace("#/$defs/", "#/components/schemas/") : relinked(member),
    ]),
  );
}

import { expect, test } from "bun:test";
import { terraformSchemaText } from "../../scripts/terraform-schema.ts";

interface Attribute {
  readonly type: unknown;
  readonly required?: true;
  readonly optional?: true;
  readonly computed?: true;
  readonly sensitive?: true;
}

const { format_version, provider_schemas } = JSON.parse(terraformSchemaText());
const { resource_schemas, data_source_schemas, provider } = provider_schemas["gatehouse/gatehouse"];
const attributesOf = (resource: string): Record<string, Attribute> => resource_schemas[resource].block.attributes;

/** Terraform's type constraints in their JSON notation. */
function isType(type: unknown): boolean {
  if (typeof type === "string") return ["string", "number", "bool", "dynamic"].includes(type);
  const [kind, of] = type as [string, unknown];
  if (kind === "object") return Object.values(of as object).every(isType);
  return ["list", "set", "map"].includes(kind) && isType(of);
}

test("every attribute has a Terraform type and is required, optional or computed", () => {
  expect(format_version).toBe("1.0");
  const all = [provider, ...Object.values(resource_schemas), ...Object.values(data_source_schemas)] as (typeof provider)[];
  for (const { block } of all)
    for (const [name, attribute] of Object.entries(block.attributes as Record<string, Attribute>)) {
      expect([name, isType(attribute.type)]).toEqual([name, true]);
      expect([name, attribute.required ?? attribute.optional ?? attribute.computed]).toEqual([name, true]);
      expect([name, attribute.required === true && (attribute.optional ?? attribute.computed) === true]).toEqual([name, false]);
    }
});

test("resources mark required, computed and sensitive attributes", () => {
  expect(attributesOf("gatehouse_provider")).toMatchObject({
    provider_key: { type: "string", required: true },
    api_key: { optional: true, sensitive: true },
    id: { type: "string", computed: true },
    headers: { type: ["map", "string"], optional: true },
  });
  expect(attributesOf("gatehouse_resource_group_api_key")).toMatchObject({
    resource_group_id: { required: true },
    key_value: { computed: true, sensitive: true },
  });
  expect(attributesOf("gatehouse_resource_group_llm_model_limits")).toMatchObject({
    resource_group_id: { required: true },
    llm_model_id: { required: true },
  });
  expect(Object.keys(resource_schemas).length).toBeGreaterThan(45);
});

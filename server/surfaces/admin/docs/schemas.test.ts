import { expect, test } from "bun:test";
import { openApiDocument } from "../document.ts";
import { recordRoutes } from "../record-route.ts";
import { OPERATIONS } from "../routes.ts";

/** What is served to browsers, which has no types. */
const { schemaReader } = await import(new URL("./schemas.js", import.meta.url).href);

const api = openApiDocument(OPERATIONS, recordRoutes(OPERATIONS)) as {
  paths: Record<string, Record<string, any>>;
  components: { schemas: Record<string, unknown> };
};
const reader = schemaReader(api.components.schemas);
const bodyOf = (method: string, path: string) => api.paths[path]?.[method]?.requestBody.content["application/json"].schema;
const rowsOf = (schema: unknown): Record<string, string> =>
  Object.fromEntries(reader.membersOf(schema).map((row: any) => [row.name + (row.required ? " *" : ""), row.type]));

test("members are told at any depth, those of references, lists and what may be null too", () => {
  expect(rowsOf(bodyOf("patch", "/v1/admin/resource-groups/{id}/llm-global-limits"))).toMatchObject({
    "llm_global_limits *": "object",
    "llm_global_limits.budget": "object | null",
    "llm_global_limits.budget.hard_stop": "boolean | null",
  });
  expect(rowsOf(bodyOf("post", "/v1/admin/argument-policies"))).toMatchObject({
    "name *": "string",
    "rules *": "object[]",
    "rules[].message *": "string",
    severity: '"deny" | "warn"',
  });
  expect(rowsOf(bodyOf("post", "/v1/admin/guardrails/configs"))["builtin.pii_categories"]).toBe(
    '("email" | "phone" | "credit_card" | "ssn" | "iban")[]',
  );
});

test("alternatives are told together, what they share once, and names the caller chooses as *", () => {
  const one = { type: "object", properties: { kind: { const: "one" }, at: { type: "string" } }, required: ["kind"] };
  const other = { type: "object", properties: { kind: { const: "other" }, at: { type: "string" } }, required: ["kind"] };
  expect(
    reader
      .membersOf({ type: "object", properties: { by: { type: "object", additionalProperties: { anyOf: [one, other] } } } })
      .map((row: any) => [row.name, row.type]),
  ).toEqual([
    ["by", "object"],
    ["by.*.kind", '"one"'],
    ["by.*.at", "string"],
    ["by.*.kind", '"other"'],
  ]);
});

test("a schema that holds itself ends", () => {
  const tree = {
    type: "object",
    properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/components/schemas/Tree" } } },
  };
  const { membersOf, typeOf } = schemaReader({
    Tree: tree,
    Json: { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/components/schemas/Json" } }] },
  });
  expect(membersOf({ $ref: "#/components/schemas/Tree" }).map((row: any) => row.name)).toEqual(["name", "children"]);
  expect(typeOf({ $ref: "#/components/schemas/Json" })).toBe("string | any[]");
});

import type { ScimCondition, ScimField, ScimOperator } from "../../directory/provisioning/scim-users.ts";
import { attributeNamed, type ScimAttribute, type ScimResourceType } from "../../wire/scim/attributes.ts";
import { invalidFilter, type ScimFilter } from "../../wire/scim/filter.ts";

type Test = Extract<ScimFilter, { attrPath: string }>;

const COLUMNS: Readonly<Record<string, Extract<ScimField, { kind: "column" }>["column"]>> = {
  id: "id",
  username: "userName",
  externalid: "externalId",
  active: "active",
  displayname: "displayName",
  "meta.created": "created",
  "meta.lastmodified": "lastModified",
};

/** Converts a SCIM filter to a condition. Throws `invalidFilter` for an attribute that cannot be searched. */
export function conditionOf(type: ScimResourceType, filter: ScimFilter): ScimCondition {
  switch (filter.op) {
    case "and":
    case "or":
      return { kind: filter.op === "and" ? "all" : "any", of: filter.filters.map((one) => conditionOf(type, one)) };
    case "not":
      return { kind: "not", of: conditionOf(type, filter.filter) };
    case "[]": {
      const { attribute, path } = attributeOf(type, filter.attrPath);
      if (attribute.multi !== true) throw invalidFilter(`has brackets after ${attribute.name}, which has one value`);
      if (attribute.name === "members") return membersOf(filter.valFilter);
      return { kind: "each", path, of: withinValue(attribute, filter.valFilter) };
    }
    default:
      return testOf(type, filter as Test);
  }
}

function testOf(type: ScimResourceType, test: Test): ScimCondition {
  const written = withoutSchema(type, test.attrPath);
  const column = written.extension === undefined ? COLUMNS[written.name.toLowerCase()] : undefined;
  if (column !== undefined) return tested({ kind: "column", column }, test, column === "created" || column === "lastModified");
  const [name = "", subName] = written.name.split(".");
  const { attribute, path } = attributeOf(type, written.extension === undefined ? name : `${written.extension}:${name}`);
  if (attribute.name === "members") return membersOf({ ...test, attrPath: subName ?? "value" });
  if (attribute.multi === true) return { kind: "each", path, of: withinValue(attribute, { ...test, attrPath: subName ?? "value" }) };
  const sub = subName === undefined ? undefined : attributeNamed(attribute.sub ?? [], subName);
  if (subName !== undefined && sub === undefined) throw unknownAttribute(test.attrPath);
  const leaf = sub ?? attribute;
  if (leaf.type === "complex" && test.op !== "pr") throw invalidFilter(`compares ${leaf.name}, which has parts`);
  const full = sub === undefined ? path : [...path, sub.name];
  return tested({ kind: "json", path: full, caseExact: leaf.caseExact === true, boolean: leaf.type === "boolean" }, test);
}

/** Members of a group can be filtered only by `value eq`. */
function membersOf(filter: ScimFilter): ScimCondition {
  if (filter.op !== "eq" || filter.attrPath.toLowerCase() !== "value" || typeof filter.compValue !== "string")
    throw invalidFilter("asks of members something else than value eq");
  return { kind: "test", field: { kind: "column", column: "member" }, operator: "eq", value: filter.compValue };
}

function withinValue(attribute: ScimAttribute, filter: ScimFilter): ScimCondition {
  switch (filter.op) {
    case "and":
    case "or":
      return { kind: filter.op === "and" ? "all" : "any", of: filter.filters.map((one) => withinValue(attribute, one)) };
    case "not":
      return { kind: "not", of: withinValue(attribute, filter.filter) };
    case "[]":
      throw invalidFilter("has brackets within brackets");
    default: {
      const test = filter as Test;
      const sub = attributeNamed(attribute.sub ?? [], test.attrPath);
      if (sub === undefined) throw unknownAttribute(`${attribute.name}.${test.attrPath}`);
      return tested({ kind: "member", name: sub.name, caseExact: sub.caseExact === true, boolean: sub.type === "boolean" }, test);
    }
  }
}

function tested(field: ScimField, test: Test, time = false): ScimCondition {
  const operator = test.op as ScimOperator;
  if (operator === "pr") return { kind: "test", field, operator, value: null };
  const given = "compValue" in test ? test.compValue : null;
  const value = given === null ? null : String(given);
  if (time && (value === null || !/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value) || Number.isNaN(Date.parse(value))))
    throw invalidFilter("compares a time with something else");
  return { kind: "test", field, operator, value: time && value !== null ? storableTime(value) : value };
}

const FIRST_TIME = Date.parse("0001-01-01T00:00:00Z");
const LAST_TIME = Date.parse("9999-12-31T23:59:59.999Z");

/** Clamps times that an offset moves out of the storable years, which compares the same with every record. */
const storableTime = (value: string) => new Date(Math.min(Math.max(Date.parse(value), FIRST_TIME), LAST_TIME)).toISOString();

function withoutSchema(type: ScimResourceType, text: string): { name: string; extension: string | undefined } {
  const lower = text.toLowerCase();
  for (const { id } of [type.core, ...type.extensions])
    if (lower.startsWith(`${id.toLowerCase()}:`))
      return { name: text.slice(id.length + 1), extension: id === type.core.id ? undefined : id };
  return { name: text, extension: undefined };
}

function attributeOf(type: ScimResourceType, text: string): { attribute: ScimAttribute; path: readonly string[] } {
  const { name, extension } = withoutSchema(type, text);
  const schema = extension === undefined ? type.core : type.extensions.find(({ id }) => id === extension);
  const attribute = attributeNamed(schema?.attributes ?? [], name);
  // A person's groups are not stored as an attribute.
  if (attribute === undefined || (attribute.readOnly === true && attribute.name === "groups")) throw unknownAttribute(text);
  return { attribute, path: extension === undefined ? [attribute.name] : [extension, attribute.name] };
}

const unknownAttribute = (name: string) => invalidFilter(`names ${name.slice(0, 200)}, which cannot be looked for`);

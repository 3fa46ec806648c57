import { type RawBuilder, sql } from "kysely";

/** A field that directories may filter by. The names in `json` and `each` are attribute names of the schema, never taken from a caller. */
export type ScimField =
  | { readonly kind: "column"; readonly column: ScimColumn }
  | { readonly kind: "json"; readonly path: readonly string[]; readonly caseExact: boolean; readonly boolean: boolean }
  /** A member of one value of a multi-valued attribute. */
  | { readonly kind: "member"; readonly name: string; readonly caseExact: boolean; readonly boolean: boolean };

export type ScimColumn = "id" | "userName" | "externalId" | "active" | "displayName" | "created" | "lastModified" | "member";
export type ScimOperator = "eq" | "ne" | "co" | "sw" | "ew" | "gt" | "ge" | "lt" | "le" | "pr";

export type ScimCondition =
  | { readonly kind: "all" | "any"; readonly of: readonly ScimCondition[] }
  | { readonly kind: "not"; readonly of: ScimCondition }
  | { readonly kind: "each"; readonly path: readonly string[]; readonly of: ScimCondition }
  | { readonly kind: "test"; readonly field: ScimField; readonly operator: ScimOperator; readonly value: string | null };

type Condition = RawBuilder<boolean>;

/** SQL of the columns of a list. `normal`: the form in which text is compared. */
export type ScimColumns = Readonly<
  Partial<
    Record<
      ScimColumn,
      { readonly text: RawBuilder<unknown>; readonly normal?: (value: string) => RawBuilder<unknown>; readonly time?: true }
    >
  >
>;

/** The record's attributes as they were written; inside `each`, the one value. */
type Json = RawBuilder<unknown>;

export function conditionSql(condition: ScimCondition, columns: ScimColumns, json: Json = sql`s.attributes`): Condition {
  switch (condition.kind) {
    case "all":
    case "any": {
      const parts = condition.of.map((one) => conditionSql(one, columns, json));
      return sql`(${sql.join(parts, condition.kind === "all" ? sql` AND ` : sql` OR `)})`;
    }
    case "not":
      return sql`NOT coalesce(${conditionSql(condition.of, columns, json)}, false)`;
    case "each": {
      const within = conditionSql(condition.of, columns, sql`each_value.value`);
      return sql`EXISTS (SELECT 1 FROM jsonb_array_elements(CASE WHEN jsonb_typeof(${json} #> ${[...condition.path]}::text[]) = 'array' THEN ${json} #> ${[...condition.path]}::text[] ELSE '[]' END) AS each_value(value) WHERE ${within})`;
    }
    case "test":
      return testSql(condition, columns, json);
  }
}

function testSql({ field, operator, value }: Extract<ScimCondition, { kind: "test" }>, columns: ScimColumns, json: Json): Condition {
  if (field.kind === "column") {
    const column = columns[field.column];
    if (column === undefined) return sql<boolean>`false`;
    const given = value === null ? null : column.time === true ? sql`${value}::timestamptz` : (column.normal?.(value) ?? sql`${value}`);
    return compared(column.text, operator, given, value);
  }
  const text = field.kind === "json" ? sql`${json} #>> ${[...field.path]}::text[]` : sql`${json} ->> ${field.name}::text`;
  const exact = field.caseExact && !field.boolean;
  return compared(
    exact ? text : sql`lower(${text})`,
    operator,
    value === null ? null : exact ? sql`${value}::text` : sql`lower(${value}::text)`,
    value,
  );
}

function compared(text: RawBuilder<unknown>, operator: ScimOperator, given: RawBuilder<unknown> | null, value: string | null): Condition {
  if (operator === "pr" || (given === null && operator === "ne")) return sql<boolean>`(${text})::text <> ''`;
  if (given === null || value === null) return operator === "eq" ? sql<boolean>`(${text}) IS NULL` : sql<boolean>`false`;
  switch (operator) {
    case "eq":
      return sql<boolean>`${given} = ${text}`;
    case "ne":
      return sql<boolean>`${text} IS DISTINCT FROM ${given}`;
    case "co":
      return sql<boolean>`position((${given})::text in (${text})::text) > 0`;
    case "sw":
      return sql<boolean>`starts_with((${text})::text, (${given})::text)`;
    case "ew":
      return sql<boolean>`right((${text})::text, length((${given})::text)) = (${given})::text`;
    case "gt":
      return sql<boolean>`${text} > ${given}`;
    case "ge":
      return sql<boolean>`${text} >= ${given}`;
    case "lt":
      return sql<boolean>`${text} < ${given}`;
    case "le":
      return sql<boolean>`${text} <= ${given}`;
  }
}

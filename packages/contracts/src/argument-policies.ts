import { z } from "zod";
import { description, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

const ANALYZERS = ["sql", "url", "path", "shell", "values", "json_schema"] as const;
const SQL_DIALECTS = ["postgres", "mysql", "sqlite", "mssql", "oracle", "bigquery", "snowflake"] as const;

const surface = z.enum(["llm_output_tool_calls"]);
const analyzer = z.enum(ANALYZERS);
const severity = z.enum(["deny", "warn"]);
const groupIds = z.array(recordId).max(1000);

const rule = z
  .strictObject({
    deny_if: z.string().min(1).max(100).describe("sql: writes, ddl, multi_statement, tables; url: private_address, userinfo, host_denied, host_not_allowed, scheme_not_allowed; path: traversal, outside_roots; shell: chaining, substitution, redirection, expansion; values: in, not_in; json_schema: invalid; each of them: unparseable"),
    message: z.string().trim().min(1).max(1000).describe("what the caller is told"),
    values: z.array(z.string().max(1000)).max(1000).optional().describe("for the conditions that compare"),
  })
  .meta({ id: "ArgumentRule" });

const rules = z.array(rule).min(1).max(50);

const written = {
  description: description.optional(),
  enabled: z.boolean().optional().describe("true when left out"),
  surface: surface.optional(),
  argument_key: z.string().min(1).max(200).nullable().optional().describe("dotted path of the argument; null, for json_schema only, judges all arguments"),
  severity: severity.optional().describe("deny when left out; warn only marks the audit row"),
  dialect: z.enum(SQL_DIALECTS).nullable().optional().describe("of sql; postgres when left out"),
  read_functions: z.array(z.string().min(1).max(200)).max(1000).nullable().optional().describe("of sql: the database's own functions that do nothing but read"),
  schema: z.record(z.string(), z.unknown()).nullable().optional().describe("of json_schema: JSON Schema 2020-12"),
  group_ids: groupIds.nullable().optional().describe("groups it holds for, with those below them; null: every group; none when left out"),
};

const target = z.string().min(1).max(200).describe("name of the tool");

export const argumentPolicyCreate = z.strictObject({ name: recordName, target, analyzer, rules, ...written }).meta({ id: "ArgumentPolicyCreate" });
export const argumentPolicyUpdate = z.strictObject({ name: recordName.optional(), target: target.optional(), analyzer: analyzer.optional(), rules: rules.optional(), ...written }).meta({ id: "ArgumentPolicyUpdate" });

export const argumentPolicy = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    enabled: z.boolean(),
    surface,
    target: z.string(),
    argument_key: z.string().nullable(),
    analyzer,
    severity,
    rules: z.array(rule),
    dialect: z.string().nullable(),
    read_functions: z.array(z.string()).nullable(),
    schema: z.record(z.string(), z.unknown()).nullable(),
    group_ids: groupIds.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "ArgumentPolicy" });

export const argumentPolicyQuery = z.strictObject({ ...pageQuery.shape, search });

export const argumentPolicyGroups = z.strictObject({ group_ids: groupIds.min(1) }).meta({ id: "ArgumentPolicyGroups" });

export type ArgumentPolicyRecord = z.output<typeof argumentPolicy>;
export type ArgumentPolicyCreate = z.output<typeof argumentPolicyCreate>;
export type ArgumentPolicyUpdate = z.output<typeof argumentPolicyUpdate>;
export type ArgumentPolicyQuery = z.output<typeof argumentPolicyQuery>;

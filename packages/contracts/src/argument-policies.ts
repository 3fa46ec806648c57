import { z } from "zod";
import { description, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

export const ARGUMENT_ANALYZERS = ["sql", "url", "path", "shell", "values", "json_schema"] as const;

const surface = z.enum(["llm_output_tool_calls"]);
const target = z.string().min(1).max(200);
const argumentKey = z.string().min(1).max(200);
const analyzer = z.enum(ARGUMENT_ANALYZERS);
const severity = z.enum(["deny", "warn"]);
const schema = z.record(z.string(), z.unknown());
const readFunctions = z.array(z.string().min(1).max(200)).max(500);

const rule = z
  .strictObject({
    deny_if: z.string().min(1).max(50).describe("the condition to check; the guide lists those of each analyzer"),
    message: z.string().trim().min(1).max(1000).describe("the message for the caller"),
    values: z.array(z.string().min(1).max(2000)).max(1000).optional().describe("for conditions that compare with values"),
  })
  .meta({ id: "ArgumentRule" });

const rules = z.array(rule).min(1).max(50);
const groupIds = z.array(recordId).max(1000);

const written = {
  description: description.optional(),
  surface: surface.optional().describe("default: llm_output_tool_calls"),
  argument_key: argumentKey
    .nullable()
    .optional()
    .describe("dotted path into the arguments; only json_schema can judge them whole, which null says"),
  severity: severity.optional().describe("default: deny"),
  enabled: z.boolean().optional().describe("default: true"),
  dialect: z
    .string()
    .max(50)
    .nullable()
    .optional()
    .describe("for sql: postgres (default), mysql, sqlite, mssql, oracle, bigquery or snowflake"),
  read_functions: readFunctions.nullable().optional().describe("for sql: functions of your database that only read"),
  schema: schema.nullable().optional().describe("for json_schema: the JSON Schema 2020-12 that the value must satisfy"),
  group_ids: groupIds.nullable().optional().describe("groups to which it applies, with those below them; null or missing: every group"),
};

export const argumentPolicyCreate = z
  .strictObject({ name: recordName, target: target.describe("the tool's name, exactly"), analyzer, rules, ...written })
  .meta({ id: "ArgumentPolicyCreate" });
export const argumentPolicyUpdate = z
  .strictObject({
    name: recordName.optional(),
    target: target.optional(),
    analyzer: analyzer.optional(),
    rules: rules.optional(),
    ...written,
  })
  .meta({ id: "ArgumentPolicyUpdate" });

export const argumentPolicy = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    surface,
    target: z.string(),
    argument_key: z.string().nullable(),
    analyzer,
    severity,
    enabled: z.boolean(),
    rules: z.array(rule),
    dialect: z.string().nullable(),
    read_functions: z.array(z.string()).nullable(),
    schema: schema.nullable(),
    group_ids: z.array(recordId).nullable().describe("null: every group"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "ArgumentPolicy" });

export const argumentPolicyQuery = z.strictObject({
  ...pageQuery.shape,
  search,
  target: target.optional().describe("only policies on this tool"),
});

export const argumentPolicyGroups = z.strictObject({ group_ids: groupIds.min(1) }).meta({ id: "ArgumentPolicyGroups" });
export const maybeArgumentPolicyGroups = z.strictObject({ group_ids: groupIds.min(1).optional() });
/** DELETE takes the IDs in the body, or comma-separated in the query for clients that cannot send a body with DELETE. */
export const argumentPolicyGroupsQuery = z.strictObject({
  group_ids: z.string().max(40_000).optional().describe("comma list, instead of a body"),
});

export const argumentPolicyTrial = z
  .strictObject({ arguments: z.string().min(1).max(300_000).describe("the arguments of a call, as the JSON text that a model writes") })
  .meta({ id: "ArgumentPolicyTrial" });

export const argumentPolicyTrialResult = z
  .strictObject({
    action: z.enum(["none", "warn", "deny"]).describe("what would happen to a call with these arguments"),
    rule: z.string().nullable().describe("the condition that matched"),
    message: z.string().nullable().describe("the message that the caller would get"),
  })
  .meta({ id: "ArgumentPolicyTrialResult" });

export type ArgumentPolicyTrialResult = z.output<typeof argumentPolicyTrialResult>;
export type ArgumentPolicyCreate = z.output<typeof argumentPolicyCreate>;
export type ArgumentPolicyUpdate = z.output<typeof argumentPolicyUpdate>;
export type ArgumentPolicy = z.output<typeof argumentPolicy>;
export type ArgumentPolicyQuery = z.output<typeof argumentPolicyQuery>;

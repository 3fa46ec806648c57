import { z } from "zod";
import { description, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";
import { SERVED_SURFACES } from "./guardrails.ts";

const action = z.enum(["block", "warn"]);
const mode = z.enum(["enforce", "shadow"]);
const onFailure = z.enum(["block", "allow"]);
/** Only served surfaces: a policy on a surface that no call passes through would never be enforced. */
const surfaces = z.array(z.enum(SERVED_SURFACES)).min(1).max(SERVED_SURFACES.length);
const constraintText = z.string().trim().min(1).max(8000);
const groupIds = z.array(recordId).max(1000).nullable();

const written = {
  description: description.optional(),
  action: action.optional().describe("default: block"),
  mode: mode.optional().describe("default: enforce; shadow judges and records, but changes nothing"),
  surfaces: surfaces.optional().describe("default: chat_input and chat_output"),
  enabled: z.boolean().optional(),
  judge_model_id: recordId.nullable().optional().describe("null: the tenant's default judge model, then GW_JUDGE_MODEL"),
  on_judge_failure: onFailure
    .optional()
    .describe("what happens if a judge fails or times out; default: block if the policy enforces a block, otherwise allow"),
  timeout_seconds: z.number().min(0.1).max(120).optional().describe("longest wait for a judge; default: 10"),
  resource_group_ids: groupIds.optional().describe("groups to which it applies, with those below them; null or missing: every group"),
};

export const semanticPolicyCreate = z
  .strictObject({ name: recordName, constraint_text: constraintText.describe("the rule, in plain language"), ...written })
  .meta({ id: "SemanticPolicyCreate" });
export const semanticPolicyUpdate = z
  .strictObject({ name: recordName.optional(), constraint_text: constraintText.optional(), ...written })
  .meta({ id: "SemanticPolicyUpdate" });

export const semanticPolicy = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    constraint_text: z.string(),
    action,
    mode,
    surfaces: z.array(z.string()),
    enabled: z.boolean(),
    judge_model_id: recordId.nullable(),
    on_judge_failure: onFailure,
    timeout_seconds: z.number(),
    resource_group_ids: z.array(recordId).nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "SemanticPolicy" });

export const semanticPolicyQuery = z.strictObject({ ...pageQuery.shape, search });

export const semanticPolicyTrial = z
  .strictObject({
    text: z.string().min(1).max(200_000),
    surface: z.enum(SERVED_SURFACES).optional().describe("default: chat_input"),
    constraint_text: constraintText.optional().describe("another wording to try before storing it"),
    resource_group_id: recordId.optional().describe("the group whose budget pays for the judge; default: the first of the policy's groups"),
  })
  .meta({ id: "SemanticPolicyTrial" });

export const semanticPolicyTrialResult = z
  .strictObject({
    verdict: z.enum(["compliant", "violation", "failed"]).describe("what the judge says; failed: it gave no verdict"),
    reason: z.string().nullable(),
    action: z.enum(["none", "warn", "block"]).describe("what would happen to a call with this text"),
    from_memory: z.boolean().describe("no model was asked: the same text was judged within the hour, or the judge could not be asked"),
    duration_ms: z.number().int(),
  })
  .meta({ id: "SemanticPolicyTrialResult" });

export type SemanticPolicyTrial = z.output<typeof semanticPolicyTrial>;
export type SemanticPolicyTrialResult = z.output<typeof semanticPolicyTrialResult>;
export type SemanticPolicy = z.output<typeof semanticPolicy>;
export type SemanticPolicyCreate = z.output<typeof semanticPolicyCreate>;
export type SemanticPolicyUpdate = z.output<typeof semanticPolicyUpdate>;
export type SemanticPolicyQuery = z.output<typeof semanticPolicyQuery>;

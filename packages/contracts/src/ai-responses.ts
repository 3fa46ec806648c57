import { z } from "zod";
import { DRIFT_KINDS, SEVERITIES } from "./ai-drift.ts";
import { pageQuery, recordId, recordName, timestamp } from "./conventions.ts";

/** Response policies: how findings restrict what AI Systems may do (interface 4.9, 3.4). */

/** Actions only restrict. When several apply, a system may do only what all of them leave. */
export const RESPONSE_ACTIONS = ["require_approval", "block_tools", "restrict", "suspend"] as const;

const written = {
  name: recordName,
  finding_kinds: z.array(z.enum(DRIFT_KINDS)).min(1).max(DRIFT_KINDS.length),
  min_severity: z.enum(SEVERITIES).describe("and all above it"),
  action: z.enum(RESPONSE_ACTIONS),
  mode: z.enum(["off", "dry_run", "armed"]).describe("`dry_run` tells what it would have done"),
  ttl_seconds: z
    .number()
    .int()
    .min(60)
    .max(30 * 86_400)
    .describe("seconds after which the restriction ends"),
  max_systems_per_hour: z.number().int().min(1).max(1_000).describe("further systems are left to people"),
};

export const responsePolicyCreate = z
  .strictObject({
    ...written,
    min_severity: written.min_severity.default("high"),
    mode: written.mode.default("dry_run"),
    ttl_seconds: written.ttl_seconds.default(86_400),
    max_systems_per_hour: written.max_systems_per_hour.default(1),
  })
  .meta({ id: "ResponsePolicyCreate" });

export const responsePolicyUpdate = z.strictObject(written).partial().meta({ id: "ResponsePolicyUpdate" });

export const responsePolicy = z
  .strictObject({
    id: recordId,
    ai_system_id: recordId.nullable().describe("null: of every system of the tenant"),
    name: z.string(),
    finding_kinds: z.array(z.enum(DRIFT_KINDS)),
    min_severity: z.enum(SEVERITIES),
    action: z.enum(RESPONSE_ACTIONS),
    mode: z.enum(["off", "dry_run", "armed"]),
    ttl_seconds: z.number().int(),
    max_systems_per_hour: z.number().int(),
    inherited: z.boolean().describe("whether it is the tenant's"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "ResponsePolicy" });

export const responsePolicyQuery = z.strictObject({ ...pageQuery.shape });

export const responsePreview = z
  .strictObject({
    action: z.enum(RESPONSE_ACTIONS),
    would_fire_for: z
      .array(z.strictObject({ finding_id: recordId, kind: z.string(), severity: z.string(), title: z.string() }))
      .describe("open findings of that severity; one that is open when the policy is armed triggers it only if it gets worse"),
    keys: z.number().int().describe("live keys of the system's group"),
    groups_below: z.number().int().describe("further groups it would affect"),
    calls_last_day: z.number().int(),
    effect: z.string(),
  })
  .meta({ id: "ResponsePreview" });

export const response = z
  .strictObject({
    id: recordId,
    ai_system_id: recordId,
    policy_id: recordId.nullable(),
    policy_name: z.string(),
    finding_id: recordId.nullable(),
    action: z.enum(RESPONSE_ACTIONS),
    status: z.enum(["active", "expired", "restored", "dry_run", "refused"]),
    reason: z.string(),
    fired_at: timestamp,
    expires_at: timestamp.nullable(),
    ended_at: timestamp.nullable(),
    ended_by: z.string().nullable(),
  })
  .meta({ id: "Response" });

export const responseQuery = z.strictObject({ ...pageQuery.shape });
export const restore = z.strictObject({ reason: z.string().trim().min(1).max(4000) }).meta({ id: "Restore" });
export const restored = z.strictObject({ restored: z.array(response) }).meta({ id: "Restored" });

export type ResponseAction = (typeof RESPONSE_ACTIONS)[number];
export type ResponsePolicy = z.output<typeof responsePolicy>;
export type ResponsePolicyCreate = z.output<typeof responsePolicyCreate>;
export type ResponsePolicyUpdate = z.output<typeof responsePolicyUpdate>;
export type ResponsePreview = z.output<typeof responsePreview>;
export type FiredResponse = z.output<typeof response>;

import { z } from "zod";
import { description, pageQuery, queryFlag, recordId, recordName, search, timestamp } from "./conventions.ts";

/**
 * How a group picks a member for a call: weighted random, fewest calls in flight, lowest recent latency, lowest price, or highest weight
 * first.
 */
export const ROUTING_STRATEGIES = ["simple-shuffle", "least-busy", "latency-based", "cost-based", "ordered"] as const;
export type RoutingStrategy = (typeof ROUTING_STRATEGIES)[number];
const routingStrategy = z.enum(ROUTING_STRATEGIES);

/**
 * What makes a member take over a call that another member did not serve: the failure of that member, a request longer than its context
 * window, or a refusal by its provider's content filter.
 */
export const FALLBACK_CONDITIONS = ["failure", "context_window", "content_filter"] as const;
export type FallbackCondition = (typeof FALLBACK_CONDITIONS)[number];
export const fallbackConditions = z
  .array(z.enum(FALLBACK_CONDITIONS))
  .max(FALLBACK_CONDITIONS.length)
  .refine((all) => new Set(all).size === all.length, "must name each condition once");

const groupMode = z.enum(["chat", "embedding", "image", "audio_speech", "audio_transcription", "moderation", "rerank"]);

export const routingGroupId = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/, "must be 1 to 63 lower-case letters, digits and inner . _ -");

const count = z.number().int().min(0).max(1_000);
const seconds = z.number().min(0).max(86_400);
const ceiling = z.number().int().min(1).max(1_000_000_000_000).nullable();

const written = {
  name: recordName.optional().describe("default: the ID; callers may address the group by either"),
  description: description.optional(),
  mode: groupMode.optional().describe("default: chat"),
  routing_strategy: routingStrategy.optional().describe("default: simple-shuffle"),
  enabled: z.boolean().optional(),
  allowed_fails: count
    .optional()
    .describe("failures within cooldown_window that may occur before a member is taken out for cooldown_time; default: 3"),
  cooldown_time: seconds.optional().describe("seconds a failing member stays out; default: 30"),
  cooldown_window: seconds.optional().describe("seconds over which failures are counted; default: 60"),
  num_retries: z.number().int().min(0).max(20).optional().describe("retries of a request, on other healthy members first; default: 2"),
  retry_after: seconds.optional().describe("minimum seconds to wait before a retry; default: 0"),
  timeout: z.number().positive().max(86_400).nullable().optional().describe("seconds an attempt may take; null: the gateway's own limit"),
  rpm_limit: ceiling.optional().describe("requests a minute of the whole group"),
  tpm_limit: ceiling.optional().describe("tokens a minute of the whole group"),
  max_parallel_requests: ceiling.optional(),
};

export const routingGroupCreate = z
  .strictObject({ id: routingGroupId.describe("permanent; callers put it in `model`"), ...written })
  .meta({ id: "RoutingGroupCreate" });

export const routingGroupUpdate = z.strictObject(written).meta({ id: "RoutingGroupUpdate" });

const routingMember = z
  .strictObject({
    model_id: recordId,
    name: z.string(),
    routing_weight: z.number().int().describe("0: only if no member of weight 1 or more can serve"),
    fallback_on: fallbackConditions,
  })
  .meta({ id: "RoutingMember" });

export const routingGroup = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    model_id: recordId.describe("gateway id of the virtual model"),
    name: z.string(),
    description: z.string().nullable(),
    mode: groupMode,
    modes: z.array(z.string()).describe("what each of its members supports, its mode first"),
    routing_strategy: routingStrategy,
    enabled: z.boolean(),
    allowed_fails: z.number(),
    cooldown_time: z.number(),
    cooldown_window: z.number(),
    num_retries: z.number(),
    retry_after: z.number(),
    timeout: z.number().nullable(),
    rpm_limit: z.number().nullable(),
    tpm_limit: z.number().nullable(),
    max_parallel_requests: z.number().nullable(),
    members: z.array(routingMember).describe("the models that name it as routing_group_id, heaviest first"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "RoutingGroup" });

export const routingGroupQuery = z.strictObject({
  ...pageQuery.shape,
  search,
  enabled_only: queryFlag.optional().describe("true leaves out those switched off"),
});

export type RoutingGroup = z.output<typeof routingGroup>;
export type RoutingGroupCreate = z.output<typeof routingGroupCreate>;
export type RoutingGroupUpdate = z.output<typeof routingGroupUpdate>;
export type RoutingGroupQuery = z.output<typeof routingGroupQuery>;

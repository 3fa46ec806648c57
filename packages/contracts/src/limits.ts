import { z } from "zod";

/** Limit documents of a resource group (interface 8.2, 8.4, 8.5). An absent or null member sets no limit. */

const most = 1_000_000_000_000;
const count = z.number().int().min(0).max(most).nullable().optional();
const positive = z.number().int().min(1).max(most).nullable().optional();
const usd = z
  .number()
  .min(0)
  .max(1_000_000_000)
  .refine((value) => Math.abs(value * 1_000_000 - Math.round(value * 1_000_000)) < 1e-3, "must have at most 6 decimals")
  .nullable()
  .optional();
const percent = z.number().min(1).max(100).nullable().optional();
const seconds = z
  .number()
  .int()
  .min(0)
  .max(86_400 * 31)
  .nullable()
  .optional();

const quota = z
  .strictObject({ daily_limit: count, monthly_limit: count, daily_warning_percent: percent, monthly_warning_percent: percent })
  .nullable()
  .optional();

export const llmLimits = z
  .strictObject({
    budget: z
      .strictObject({
        daily_limit_usd: usd,
        monthly_limit_usd: usd,
        daily_warning_percent: percent,
        monthly_warning_percent: percent,
        hard_stop: z.boolean().nullable().optional().describe("true: a budget that is used up blocks; otherwise it only warns"),
      })
      .nullable()
      .optional(),
    tokens: quota,
    requests: quota,
    throughput: z
      .strictObject({
        max_requests_per_minute: positive,
        max_input_tokens_per_minute: positive,
        max_output_tokens_per_minute: positive,
        max_usd_per_minute: usd,
        request_burst: positive.describe("capacity of the token bucket; default: one minute's worth"),
        tokens_burst: positive,
        usd_burst: usd,
        cooldown_seconds: seconds.describe("seconds for which the whole scope is refused once a bucket is empty"),
      })
      .nullable()
      .optional(),
    concurrency: z.strictObject({ max_concurrent: count }).nullable().optional(),
  })
  .meta({ id: "LlmLimits" });

/** Limits for tool servers and for skills. */
export const toolLimits = z
  .strictObject({
    frequency: z
      .strictObject({
        max_calls_per_minute: count,
        max_calls_per_hour: count,
        max_calls_per_day: count,
        burst_limit: positive,
        cooldown_seconds: seconds,
      })
      .nullable()
      .optional(),
    execution: z
      .strictObject({
        timeout_seconds: z.number().positive().max(86_400).nullable().optional(),
        max_concurrency_per_user: count,
        max_concurrency_per_group: count,
      })
      .nullable()
      .optional(),
    data: z
      .strictObject({
        max_payload_size_mb: z.number().positive().max(1_000_000).nullable().optional(),
        max_rows_per_query: count,
        max_items_per_response: count,
      })
      .nullable()
      .optional(),
  })
  .meta({ id: "ToolLimits" });

export const runCeilings = z
  .strictObject({
    max_cost_per_run_usd: usd,
    max_tokens_per_run: count,
    max_llm_calls_per_run: count,
    max_delegation_depth_per_run: count,
    max_duration_seconds_per_run: seconds,
  })
  .meta({ id: "RunCeilings" });

const names = z.array(z.string().min(1).max(256)).max(1_000).nullable().optional();
const enforce = z.enum(["clamp", "reject"]).nullable().optional();

/** Parameter governance (interface 8.3). */
export const llmGovernance = z
  .strictObject({
    temperature: z
      .strictObject({ max: z.number().min(0).max(2).nullable().optional(), enforce })
      .nullable()
      .optional(),
    context_window: z.strictObject({ max_output_tokens: positive, max_input_tokens: positive, enforce }).nullable().optional(),
    tool_use: z
      .strictObject({
        mode: z.enum(["allow", "approval_required", "deny"]).nullable().optional().describe("tool access as a whole"),
        allowed_tools: names.describe("only these; empty: no restriction"),
        blocked_tools: names,
        vendor_ids: z
          .enum(["allow", "refuse"])
          .nullable()
          .optional()
          .describe("refuse: requests may not name what a provider stores: files, containers, vector stores, prompt templates, caches"),
        max_tool_calls_per_request: count,
        max_tool_calls_per_hour: count,
        max_tool_calls_per_day: count,
      })
      .nullable()
      .optional(),
    system_prompt: z
      .strictObject({
        prepend: z
          .array(z.string().min(1).max(20_000))
          .max(50)
          .nullable()
          .optional()
          .describe("mandatory fragments before the caller's instructions"),
        append: z.array(z.string().min(1).max(20_000)).max(50).nullable().optional(),
        banned_patterns: z.array(z.string().min(1).max(1_000)).max(200).nullable().optional().describe("regular expressions (RE2 syntax)"),
      })
      .nullable()
      .optional(),
  })
  .meta({ id: "LlmGovernance" });

const mediaValue = z.union([z.number().min(0).max(most), z.boolean(), z.array(z.string().min(1).max(256)).max(1_000)]).nullable();

/** The fields each mode has: whitelists, maxima, the minimum speed, and required parts. */
export const MEDIA_FIELDS: Readonly<Record<string, readonly string[]>> = {
  image: ["dim_whitelist", "quality_whitelist", "style_whitelist", "max_n", "max_input_characters", "require_image_input"],
  audio_speech: ["voice_whitelist", "format_whitelist", "max_input_characters", "max_speed", "speed_min"],
  audio_transcription: ["language_whitelist", "format_whitelist", "max_input_characters", "max_duration_seconds", "max_file_size_mb"],
  moderation: ["max_input_characters"],
  video: ["resolution_whitelist", "max_duration_seconds", "max_n", "max_input_characters", "require_image_input"],
};

function mediaFieldProblem(mode: string, field: string, value: unknown): string | null {
  const known = MEDIA_FIELDS[mode] ?? [];
  if (!known.includes(field)) return `is not known here: of ${mode} there are ${known.join(", ")}`;
  if (value === null) return null;
  if (field.endsWith("_whitelist")) return Array.isArray(value) ? null : "must be an array of strings";
  if (field.startsWith("require_")) return typeof value === "boolean" ? null : "must be true or false";
  return typeof value === "number" ? null : "must be a number";
}

/** `{mode: {field: value}}`: whitelists, maxima (`max_*`), the minimum `speed_min`, required parts (`require_*`). */
export const mediaGovernance = z
  .record(z.string().max(64), z.record(z.string(), mediaValue))
  .superRefine((document, context) => {
    for (const [mode, fields] of Object.entries(document)) {
      if (!Object.hasOwn(MEDIA_FIELDS, mode)) {
        const modes = Object.keys(MEDIA_FIELDS).join(", ");
        context.addIssue({ code: "custom", path: [mode], message: `is no mode that is governed: there are ${modes}` });
        continue;
      }
      for (const [field, value] of Object.entries(fields)) {
        const problem = mediaFieldProblem(mode, field, value);
        if (problem !== null) context.addIssue({ code: "custom", path: [mode, field], message: problem });
      }
    }
  })
  .meta({ id: "MediaGovernance" });

const domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/,
    "must be a domain, without scheme and path, in ASCII",
  );

/** How a group may search the web and which pages it may read. */
export const webSearchGovernance = z
  .strictObject({
    domains: z
      .strictObject({
        allowed: z.array(domain).max(1_000).nullable().optional().describe("only these domains and their subdomains; empty: all"),
        denied: z.array(domain).max(1_000).nullable().optional().describe("never these domains or their subdomains"),
      })
      .nullable()
      .optional(),
    search: z
      .strictObject({ safe_search: z.enum(["off", "moderate", "strict"]).nullable().optional(), max_results: positive })
      .nullable()
      .optional(),
    fetch: z
      .strictObject({
        addresses: z
          .enum(["any", "known", "none"])
          .nullable()
          .optional()
          .describe(
            "which pages are read: any; known (those that a search gave the caller, or whose domain is explicitly allowed); none; default: known",
          ),
      })
      .nullable()
      .optional(),
  })
  .meta({ id: "WebSearchGovernance" });

export const llmGlobalLimitsPatch = z.strictObject({ llm_global_limits: llmLimits }).meta({ id: "LlmGlobalLimitsPatch" });
export const governancePatch = z.strictObject({ governance: llmGovernance }).meta({ id: "LlmGovernancePatch" });
export const mcpGlobalLimitsPatch = z.strictObject({ mcp_global_limits: toolLimits }).meta({ id: "McpGlobalLimitsPatch" });
export const skillGlobalLimitsPatch = z.strictObject({ skill_global_limits: toolLimits }).meta({ id: "SkillGlobalLimitsPatch" });
export const mediaGovernancePatch = z.strictObject({ media_governance: mediaGovernance }).meta({ id: "MediaGovernancePatch" });
export const webSearchPatch = z.strictObject({ web_search: webSearchGovernance }).meta({ id: "WebSearchGovernancePatch" });
export const runCeilingsPatch = z.strictObject({ run_ceilings: runCeilings }).meta({ id: "RunCeilingsPatch" });
export const llmLimitsPatch = z.strictObject({ limits: llmLimits }).meta({ id: "LlmModelLimitsPatch" });
export const toolLimitsPatch = z.strictObject({ limits: toolLimits }).meta({ id: "ToolItemLimitsPatch" });

/** What is left of each quota, keyed by its path in the document. */
const available = z.record(z.string(), z.record(z.string(), z.number().nullable()));

export const capacity = z
  .strictObject({
    parent_id: z.string().nullable().describe("the nearest group above that sets limits: the budget holder"),
    parent_name: z.string().nullable(),
    parent_is_immediate: z.boolean(),
    siblings: z
      .array(z.strictObject({ group_id: z.string(), group_name: z.string(), limits: llmLimits }))
      .describe("others that draw on that quota, without this group's branch"),
    available: available.describe("for each quota: the holder's limit minus what the others claim; null: no group above has one"),
  })
  .meta({ id: "LimitCapacity" });

export const llmLimitsState = z
  .strictObject({
    group_id: z.string(),
    llm_global_limits: llmLimits,
    inherited_llm_limits: llmLimits,
    effective_llm_limits: llmLimits,
    capacity,
  })
  .meta({ id: "LlmGlobalLimits" });

const policyFields = (document: z.ZodType) => ({
  group_id: z.string(),
  item_id: z.string().nullable().describe("the model, server or skill it is for"),
  own: document.describe("the document the group sets, under the same name for every kind"),
  inherited: document,
  effective: document,
});

const policyStates = new Map<string, z.ZodObject>();

/** Schema of the answer about a limit document, which the body `patch` holds as `member`. Cached by the patch's schema ID. */
export function policyStateOf(patch: z.ZodObject, member: string): z.ZodObject {
  const name = (patch.meta()?.id ?? member).replace(/Patch$/, "");
  const known = policyStates.get(name);
  if (known !== undefined) return known;
  const document = patch.shape[member] as z.ZodType;
  const state = z
    .strictObject({ ...policyFields(document), [member]: document.describe("what the group sets, as it is sent") })
    .meta({ id: `${name}State` });
  policyStates.set(name, state);
  return state;
}

export const effectiveLimits = z
  .strictObject({
    group_id: z.string(),
    llm_limits: llmLimits,
    llm_governance: llmGovernance,
    mcp_limits: toolLimits,
    skill_limits: toolLimits,
    media_governance: mediaGovernance,
    run_ceilings: runCeilings,
    web_search: webSearchGovernance,
    refinements: z
      .array(z.strictObject({ kind: z.string(), item_id: z.string(), effective: z.union([llmLimits, toolLimits, llmGovernance]) }))
      .describe("limits of single models, tool servers and skills"),
  })
  .meta({ id: "EffectiveLimits" });

const drawer = z.strictObject({ group_id: z.string(), group_name: z.string(), current: z.number() });

export const consumption = z
  .strictObject({
    group_id: z.string(),
    at: z.string(),
    limits: z.array(
      z.strictObject({
        group_id: z.string().describe("the group that sets the limit"),
        group_name: z.string(),
        inherited: z.boolean(),
        model_id: z.string().nullable(),
        limit_type: z.string(),
        current: z.number().describe("settled in the window; dollars, tokens or requests"),
        limit: z.number(),
        utilization_percent: z.number(),
        blocks: z.boolean(),
        resets_at: z.string().nullable(),
        drawn_by: z.array(drawer).describe("the groups that used it, most first"),
      }),
    ),
  })
  .meta({ id: "LimitConsumption" });

export const policyPreview = z
  .strictObject({
    effective: z.record(z.string(), z.unknown()).describe("what would be in force in the group"),
    changes: z
      .array(
        z.strictObject({
          group_id: z.string(),
          group_name: z.string(),
          item_id: z.string().nullable().describe("the model, server or skill it is of; null: all of them"),
          field: z.string().describe("family and member, such as budget.daily_limit_usd"),
          before: z.unknown(),
          after: z.unknown(),
        }),
      )
      .describe("values that would change, in the group and those below it; at most 500"),
    changes_total: z.number().int(),
    spent: z
      .array(
        z.strictObject({
          limit_type: z.string(),
          current: z.number(),
          limit: z.number(),
          blocks: z.boolean().describe("calls would be refused immediately"),
          resets_at: z.string().nullable(),
        }),
      )
      .describe("limits of the group that present usage would already reach"),
  })
  .meta({ id: "PolicyPreview" });

export type PolicyPreview = z.output<typeof policyPreview>;

const alertedLimit = z
  .strictObject({
    limit_type: z.string(),
    max_limit: z.number(),
    scope: z.string(),
    group_name: z.string(),
    item_name: z.string().nullable(),
  })
  .meta({ id: "AlertedLimit" });

export const alert = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    alert_type: z.string(),
    severity: z.string(),
    title: z.string(),
    message: z.string(),
    group_id: z.string().nullable(),
    threshold_value: z.number().nullable(),
    current_value: z.number().nullable(),
    usage_limit: alertedLimit.nullable(),
    resolved: z.boolean(),
    created_at: z.string(),
    resolved_at: z.string().nullable(),
  })
  .meta({ id: "Alert" });

export type Capacity = z.output<typeof capacity>;
export type LlmLimitsState = z.output<typeof llmLimitsState>;
export type PolicyState = z.output<z.ZodObject<ReturnType<typeof policyFields>>>;
export type EffectiveLimits = z.output<typeof effectiveLimits>;
export type Consumption = z.output<typeof consumption>;
export type Alert = z.output<typeof alert>;

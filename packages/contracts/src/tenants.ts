import { z } from "zod";
import { displayName, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

const days = z.number().int().min(0).max(36_500);

export const dataRetention = z
  .strictObject({
    store_bodies: z.enum(["full", "redacted", "none"]).describe("what audit rows keep of bodies"),
    body_days: days.describe("days until stored bodies are removed"),
    log_days: days.describe("days until audit rows are reduced"),
    run_days: days.describe("days until runs are removed"),
    file_days: days.nullable().describe("days until stored files are removed; null keeps them"),
  })
  .meta({ id: "DataRetention" });

export const DEFAULT_RETENTION: z.output<typeof dataRetention> = {
  store_bodies: "redacted",
  body_days: 30,
  log_days: 400,
  run_days: 400,
  file_days: 30,
};

const megabytes = z.number().int().min(1).nullable().optional();
/** Size limits by file kind. A tenant can only lower the gateway's general limits. */
export const mediaLimits = z
  .strictObject({
    image_mb: z.number().int().min(1).max(50).nullable().optional(),
    audio_mb: z.number().int().min(1).max(100).nullable().optional(),
    document_mb: z.number().int().min(1).max(100).nullable().optional(),
    video_mb: z.number().int().min(1).max(256).nullable().optional(),
    other_mb: z.number().int().min(1).max(256).nullable().optional(),
    group_storage_mb: megabytes.describe("maximum total size of one resource group's files"),
  })
  .meta({ id: "MediaLimits", description: "MiB; null or missing: the general limit, and none for a group's total." });

export const tenantSlug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "must be 1 to 63 lower-case letters, digits and inner hyphens");

export const AUTONOMY_FLOORS = ["autonomous", "restricted", "suspended"] as const;
const autonomyFloor = z.enum(AUTONOMY_FLOORS);

const written = {
  display_name: displayName.optional(),
  enabled: z.boolean().optional().describe("false: the tenant's calls and logins are refused"),
  data_retention: dataRetention.partial().optional().describe("replaced as a whole: what it leaves out is what a new tenant has"),
  media_limits: mediaLimits.optional().describe("of stored files; replaced as a whole"),
  default_judge_model_id: recordId.nullable().optional(),
  allowed_regions: z.array(z.string().min(1).max(100)).max(100).optional().describe("empty: any"),
  run_idle_minutes: z
    .number()
    .int()
    .min(1)
    .max(10_080)
    .optional()
    .describe("minutes without a call after which a run counts as ended; default: 30"),
  portal_registration: z
    .enum(["open", "closed"])
    .optional()
    .describe("whether people may register themselves in the portal; default at creation: open"),
  portal_api_keys: z
    .enum(["off", "on"])
    .optional()
    .describe("whether people may create their own API keys in the portal; existing keys stay; default at creation: off"),
  admin_two_factor: z
    .enum(["optional", "required"])
    .optional()
    .describe("required: administrators of the tenant must set up two-factor sign-in before anything else; default at creation: optional"),
  local_passwords: z
    .boolean()
    .optional()
    .describe("whether people and administrators may sign in with gateway passwords; break-glass administrators always may"),
  autonomy_floor: autonomyFloor
    .optional()
    .describe(
      "the most that AI Systems may do on a process that has not heard of changes for 15 minutes because the database is away: " +
        "autonomous continues as last known, restricted allows models only; default at creation: autonomous",
    ),
  legal_hold: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .nullable()
    .optional()
    .describe(
      "the reason for a legal hold, such as a case number: until it is null again, retention removes nothing of the tenant, and " +
        "erasures and the tenant's deletion are refused",
    ),
};

export const tenantCreate = z
  .strictObject({ id: tenantSlug.optional().describe("default: made from the name"), name: recordName, ...written })
  .meta({ id: "TenantCreate" });

export const tenantUpdate = z.strictObject({ name: recordName.optional(), ...written }).meta({ id: "TenantUpdate" });

export const tenant = z
  .strictObject({
    id: tenantSlug,
    name: z.string(),
    display_name: z.string().nullable(),
    enabled: z.boolean(),
    data_retention: dataRetention,
    media_limits: mediaLimits,
    default_judge_model_id: recordId.nullable(),
    allowed_regions: z.array(z.string()),
    run_idle_minutes: z.number().int(),
    portal_registration: z.enum(["open", "closed"]),
    portal_api_keys: z.enum(["off", "on"]),
    admin_two_factor: z.enum(["optional", "required"]),
    local_passwords: z.boolean(),
    autonomy_floor: autonomyFloor,
    legal_hold: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Tenant" });

export const tenantQuery = z.strictObject({ ...pageQuery.shape, search });

const count = z.number().int();

export const tenantStats = z
  .strictObject({
    tenant_id: tenantSlug,
    admin_users: count,
    end_users: count,
    resource_groups: count,
    providers: count,
    models: count,
    api_keys: z.strictObject({ active: count, revoked: count, expired: count }),
    last_30_days: z.strictObject({
      requests: count,
      errors: count,
      prompt_tokens: count,
      completion_tokens: count,
      cost_usd: z.number(),
      unpriced_requests: count.describe("calls of models without a price, which are not in the cost"),
    }),
  })
  .meta({ id: "TenantStats" });

export type Tenant = z.output<typeof tenant>;
export type TenantCreate = z.output<typeof tenantCreate>;
export type TenantUpdate = z.output<typeof tenantUpdate>;
export type TenantStats = z.output<typeof tenantStats>;

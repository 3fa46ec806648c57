import { z } from "zod";
import { httpUrl, pageQuery, queryFlag, recordId, timestamp } from "./conventions.ts";

export const IMPORT_VENDORS = ["openai", "anthropic", "google", "azure", "aws"] as const;
export type ImportVendor = (typeof IMPORT_VENDORS)[number];

const day = z.iso.date().describe("a day in UTC, as 2026-11-24");
const mappingPolicy = z
  .strictObject({ mode: z.enum(["auto_create", "match_only"]) })
  .meta({ id: "UsageImportMappingPolicy" })
  .describe("auto_create: a model that the vendor names and the gateway does not know is added to the asset registry as ungoverned");

export const usageImportProviderQuery = pageQuery.extend({
  only_supported: queryFlag
    .transform((text) => text === "true")
    .optional()
    .describe("leave out providers whose vendor reports no usage"),
});

export const usageImportProviderUpdate = z
  .strictObject({
    import_enabled: z.boolean().optional(),
    import_schedule_cron: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .optional()
      .describe("five fields, in UTC, at least 15 minutes apart; default: 17 3 * * *"),
    import_mapping_policy: mappingPolicy.optional(),
    import_backfill_through: day
      .nullable()
      .optional()
      .describe("the day before which everything has been read; if set back, the next run reads from there; null: 30 days back"),
    import_endpoint_override: httpUrl.nullable().optional().describe("instead of the vendor's address"),
    import_account: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .nullable()
      .optional()
      .describe("Google: project.dataset.table of the billing export; Azure: the scope, as /subscriptions/..."),
    api_key: z
      .string()
      .regex(/^[\x20-\x7e\s]{1,16384}$/)
      .nullable()
      .optional()
      .describe(
        "write-only: an admin key (OpenAI, Anthropic), ACCESS_KEY_ID:SECRET (AWS), TENANT:CLIENT:SECRET (Azure), or a service account's key file (Google)",
      ),
  })
  .meta({ id: "UsageImportProviderUpdate" });

export const usageImportProvider = z
  .strictObject({
    id: recordId.describe("of the provider"),
    tenant_id: z.string(),
    provider_key: z.string(),
    name: z.string(),
    vendor: z.enum(IMPORT_VENDORS).nullable(),
    supported: z.boolean(),
    import_enabled: z.boolean(),
    import_schedule_cron: z.string(),
    import_mapping_policy: mappingPolicy,
    import_backfill_through: day.nullable(),
    import_endpoint_override: z.string().nullable(),
    import_account: z.string().nullable(),
    has_api_key: z.boolean(),
    api_key_hint: z.string().nullable(),
    split: z.enum(["key", "project", "resource", "account"]).nullable().describe("how precisely the vendor reports who used it"),
    next_run_at: timestamp.nullable(),
    updated_at: timestamp.nullable().describe("null until somebody set something"),
  })
  .meta({ id: "UsageImportProvider" });

export const usageImportRun = z
  .strictObject({
    id: recordId,
    provider_id: recordId,
    status: z
      .enum(["queued", "running", "partial", "succeeded", "failed"])
      .describe("partial: the vendor could not be read further, and the run will continue where it stopped"),
    cause: z.enum(["schedule", "manual"]),
    started_at: timestamp,
    finished_at: timestamp.nullable(),
    from: day,
    to: day.describe("exclusive"),
    rows_imported: z.number().int().describe("figures that were new or revised"),
    unmatched: z.number().int().nullable().describe("vendor names without a match here"),
    cost_usd: z.number().nullable().describe("the vendor's cost for the window, without provisional figures"),
    difference_usd: z.number().nullable().describe("the vendor's cost minus that of the gateway's rows"),
    error: z.string().nullable(),
  })
  .meta({ id: "UsageImportRun" });

export const usageImportTest = z
  .strictObject({ ok: z.boolean(), detail: z.string(), duration_ms: z.number().int() })
  .meta({ id: "UsageImportTest" });

export const usageImportMapping = z
  .strictObject({
    kind: z.enum(["model", "key"]),
    vendor_id: z.string(),
    label: z.string().nullable().describe("the vendor's name for it"),
    project: z.string().nullable(),
    target: z.string().nullable().describe("for a model: its name at the provider here; for a key: the provider or model whose key it is"),
    matched_by: z.enum(["exact", "hint", "hand"]).nullable(),
    ignored: z.boolean(),
  })
  .meta({ id: "UsageImportMapping" });

export const usageImportMappingQuery = pageQuery.extend({
  state: z.enum(["unmatched", "matched", "ignored"]).optional(),
  kind: z.enum(["model", "key"]).optional(),
});

export const usageImportMappingUpdate = z
  .strictObject({
    kind: z.enum(["model", "key"]),
    vendor_id: z.string().min(1).max(500),
    target: z.string().min(1).max(500).nullable().describe("null: unmatched again"),
    ignored: z.boolean().optional().describe("it is known and not the gateway's"),
  })
  .meta({ id: "UsageImportMappingUpdate" });

export const usageReconciliationQuery = z.strictObject({
  from: day.optional().describe("left out: 30 days before the end"),
  to: day.optional().describe("exclusive; left out: today"),
  by: z.enum(["day", "model", "key"]).default("model"),
});

const figures = z
  .strictObject({
    requests: z.number().int().nullable(),
    input_tokens: z.number().int(),
    output_tokens: z.number().int(),
    cost_usd: z.number().nullable(),
  })
  .meta({ id: "UsageFigures" });

const explanation = z
  .strictObject({
    kind: z.enum([
      "provisional",
      "unmatched_model",
      "unmatched_key",
      "direct_use",
      "not_reported",
      "estimated",
      "price_table",
      "rounding",
      "unknown",
    ]),
    tokens: z.number().int(),
    cost_usd: z.number(),
    detail: z.string(),
  })
  .meta({ id: "UsageDifferenceExplained" });

const reconciled = z
  .strictObject({
    day,
    model: z.string().nullable(),
    key: z.string().nullable(),
    vendor: figures,
    gateway: figures,
    difference: z.strictObject({ tokens: z.number().int(), cost_usd: z.number() }),
    provisional: z.boolean(),
    explained: z.array(explanation),
  })
  .meta({ id: "UsageReconciled" });

export const usageReconciliation = z
  .strictObject({
    from: day,
    to: day,
    by: z.enum(["day", "model", "key"]),
    split: z.enum(["key", "project", "resource", "account"]).nullable(),
    rows: z.array(reconciled),
    totals: z.strictObject({
      vendor: figures,
      gateway: figures,
      provisional_cost_usd: z.number(),
      difference: z.strictObject({ tokens: z.number().int(), cost_usd: z.number() }),
    }),
    other_currencies: z
      .array(z.strictObject({ currency: z.string(), amount: z.string() }))
      .describe("costs that are not in dollars: in no total"),
  })
  .meta({ id: "UsageReconciliation" });

export type UsageImportProvider = z.output<typeof usageImportProvider>;
export type UsageImportProviderUpdate = z.output<typeof usageImportProviderUpdate>;
export type UsageImportRun = z.output<typeof usageImportRun>;
export type UsageImportMapping = z.output<typeof usageImportMapping>;
export type UsageImportMappingUpdate = z.output<typeof usageImportMappingUpdate>;
export type UsageReconciliation = z.output<typeof usageReconciliation>;
export type UsageReconciled = z.output<typeof reconciled>;
export type UsageFigures = z.output<typeof figures>;
export type UsageDifferenceExplained = z.output<typeof explanation>;

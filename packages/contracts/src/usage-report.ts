import { z } from "zod";
import { listOf, pageQuery, recordId, timestamp } from "./conventions.ts";

/** Dimensions usage can be grouped by; at most one of the three periods. */
export const USAGE_PARTS = ["hour", "day", "month", "resource_group", "api_key", "model"] as const;
export type UsagePart = (typeof USAGE_PARTS)[number];
/** `label:NAME`: by the value that calls gave this label. */
export type LabelPart = `label:${string}`;
const LABEL_PART = /^label:[a-z][a-z0-9_.-]{0,49}$/;
export const isLabelPart = (part: string): part is LabelPart => LABEL_PART.test(part);
export const USAGE_PERIODS: readonly UsagePart[] = ["hour", "day", "month"];

const partNames = z
  .array(
    z.union([z.enum(USAGE_PARTS), z.custom<LabelPart>((part) => typeof part === "string" && isLabelPart(part))], {
      error: `names something other than ${USAGE_PARTS.join(", ")} and label:NAME`,
    }),
  )
  .refine((names) => names.filter(isLabelPart).length <= 1, "names more than one label")
  .refine((names) => new Set(names).size === names.length, "names one twice")
  .refine(
    (names) => names.filter((name) => USAGE_PERIODS.some((period) => period === name)).length <= 1,
    "names more than one of hour, day and month",
  );

const parts = z
  .string()
  .max(100)
  .transform((text, context) => {
    const names = partNames.safeParse(text.split(","));
    if (names.success) return names.data;
    // Reported for the whole parameter, because its parts have no paths a caller would recognize.
    context.addIssue({ code: "custom", message: names.error.issues[0]?.message ?? "is not a list of parts" });
    return z.NEVER;
  });

export const usageReportQuery = z.strictObject({
  ...pageQuery.shape,
  from: timestamp.optional().describe("first hour; default: 30 days before `to`; a moment within an hour means that hour"),
  to: timestamp.optional().describe("the moment before which calls ended; default: now; within an hour, the end of it"),
  group_by: parts
    .optional()
    .describe(`grouping, comma-separated: ${USAGE_PARTS.join(", ")}, label:NAME; default: day. Periods are in UTC`)
    .meta({ type: "string" }),
  resource_group_id: recordId.optional().describe("only of this resource group"),
  subgroups: z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .optional()
    .describe("with resource_group_id: also of all groups below it"),
  api_key_id: recordId.optional().describe("only of this API key"),
  model: z.string().min(1).max(200).optional().describe("only of the model of this name"),
  label: z
    .string()
    .max(200)
    .regex(/^[a-z][a-z0-9_.-]{0,49}=/, "is not NAME=VALUE")
    .optional()
    .describe("only of calls with this label, as NAME=VALUE"),
  format: z.enum(["json", "csv"]).optional().describe("csv: all of it as one file"),
});

const figures = {
  requests: z.number().int().describe("calls that reached a model"),
  errors: z.number().int().describe("those of them that did not succeed"),
  prompt_tokens: z.number().int(),
  completion_tokens: z.number().int(),
  cost_usd: z.number(),
  unpriced_requests: z.number().int().describe("calls of unknown cost, because their model had no price"),
};

const usagePart = z
  .strictObject({
    period: z.string().optional().describe("2026-11-24T13:00:00Z, 2026-11-24 or 2026-11, where it is divided by a period"),
    resource_group_id: z.string().nullable().optional().describe("for a deleted group, its nearest ancestor; null: calls for no group"),
    resource_group_name: z.string().nullable().optional().describe("null if it is gone and had no group above it"),
    api_key_id: z.string().nullable().optional().describe("null: calls without a key"),
    api_key_name: z.string().nullable().optional(),
    model: z.string().optional().describe("the model's name at the time"),
    label: z.string().nullable().optional().describe("the value of the label in group_by; null: calls without it"),
    ...figures,
  })
  .meta({ id: "UsagePart" });

export const usageReport = listOf("usage", usagePart)
  .extend({ from: timestamp, to: timestamp, totals: z.strictObject(figures).describe("over all pages") })
  .meta({ id: "UsageReport" });

export const usageLabelsQuery = z.strictObject({ from: usageReportQuery.shape.from, to: usageReportQuery.shape.to });

export const usageLabels = z
  .strictObject({
    labels: z.array(z.strictObject({ name: z.string(), values: z.number().int().describe("how many different ones") })),
    ...{ from: timestamp, to: timestamp },
  })
  .meta({ id: "UsageLabels" });

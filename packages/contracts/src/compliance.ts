import { z } from "zod";
import { pageQuery, recordId, timestamp } from "./conventions.ts";

export const FRAMEWORKS = ["soc2", "eu_ai_act", "hipaa", "gdpr_art_30", "iso_42001"] as const;
const framework = z.enum(FRAMEWORKS);
const frameworks = z
  .array(framework)
  .max(FRAMEWORKS.length)
  .refine((keys) => new Set(keys).size === keys.length, "must name each framework once");

export const complianceProfilePatch = z.strictObject({ frameworks }).meta({ id: "ComplianceProfilePatch" });
export const complianceProfile = z.strictObject({ frameworks: z.array(framework) }).meta({ id: "ComplianceProfile" });

export const complianceReportQuery = z.strictObject({
  from: timestamp.optional().describe("left out: 30 days before the end"),
  to: timestamp.optional().describe("exclusive; left out: the start of this minute"),
  format: z.enum(["json", "csv"]).default("json"),
});
export const complianceDashboardQuery = complianceReportQuery.omit({ format: true });

const complianceEvidence = z
  .strictObject({
    kind: z.enum(["audit_rows", "admin_log", "configuration", "retention", "checkpoints", "notices"]),
    ref: z.string().nullable().describe("the first row or entry, or the records or setting meant"),
    count: z.number().int(),
  })
  .meta({ id: "ComplianceEvidence" });

const complianceItem = z
  .strictObject({
    control: z.string(),
    title: z.string(),
    status: z.enum(["met", "partial", "not_met", "not_applicable", "no_data"]),
    reason: z.string(),
    evidence: z.array(complianceEvidence),
  })
  .meta({ id: "ComplianceItem" });

const reportWindow = z.strictObject({ from: timestamp, to: timestamp });

export const complianceReport = z
  .strictObject({
    framework,
    text: z.strictObject({ cites: z.string(), checked: z.string().describe("when the wording was last compared") }),
    generated_at: timestamp.describe("the end of the window; the report describes the state at that time"),
    window: reportWindow,
    items: z.array(complianceItem),
    table: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))).describe("the content of the CSV"),
  })
  .meta({ id: "ComplianceReport" });

const shownSeal = {
  id: recordId,
  framework,
  window: reportWindow,
  digest: z.string().describe("SHA-256 of the report's canonical text (RFC 8785)"),
  sealed_by: z.string().nullable(),
  created_at: timestamp,
};

export const reportSeal = z
  .strictObject({ framework, from: complianceReportQuery.shape.from, to: complianceReportQuery.shape.to })
  .meta({ id: "ComplianceReportSeal" });
export const sealedReport = z.strictObject(shownSeal).meta({ id: "SealedComplianceReport" });
export const sealedReportWithReport = z
  .strictObject({ ...shownSeal, report: complianceReport })
  .meta({ id: "SealedComplianceReportWithReport" });
export const sealedReportQuery = z.strictObject({ framework: framework.optional(), ...pageQuery.shape });

/** The in-toto statement inside a sealed report's DSSE envelope. */
export const sealedReportStatement = z
  .strictObject({
    _type: z.literal("https://in-toto.io/Statement/v1"),
    subject: z.array(z.strictObject({ name: z.string(), digest: z.strictObject({ sha256: z.string() }) })),
    predicateType: z.literal("ai.gw/compliance-report/v1"),
    predicate: z.strictObject({
      report_id: recordId,
      tenant_id: z.string(),
      framework,
      window: reportWindow,
      sealed_at: timestamp,
      sealed_by: z.string().nullable(),
      report_digest: z.string().describe("SHA-256 of the report's canonical text (RFC 8785)"),
      report: complianceReport,
      ledger: z
        .array(z.strictObject({ chain_id: z.string(), seq: z.number().int(), row_hash: z.string() }))
        .describe("where each chain of rows stood"),
      admin_log: z.strictObject({ seq: z.number().int(), entry_hash: z.string() }).describe("where the admin log stood"),
      limits: z.array(z.string()).describe("what the report does not claim"),
    }),
  })
  .meta({ id: "SealedReportStatement" });

export const complianceDashboard = z
  .strictObject({
    frameworks: z.array(
      z.strictObject({ framework, enabled: z.boolean(), items: z.number().int(), statuses: z.record(z.string(), z.number().int()) }),
    ),
    window: reportWindow,
  })
  .meta({ id: "ComplianceDashboard" });

const statement = z.string().trim().min(1).max(2000).nullable();

/** Statements only the tenant can make; the report shows them as written. */
export const gdprStatements = z
  .strictObject({
    controller: statement.describe("name and contact of the controller, and of a joint one or a representative"),
    data_protection_officer: statement,
    purposes: statement,
    data_subjects: statement.describe("categories of people"),
    personal_data: statement.describe("categories of personal data"),
  })
  .meta({ id: "GdprStatements" });

const residencyPlace = z
  .strictObject({
    region: z.string().nullable().describe("from the provider's record; null if it has none, and for recipients other than providers"),
    residency_class: z.string().nullable(),
    kind: z.enum(["provider", "tool_server", "agent", "nobody"]).describe("nobody: the call was refused before it was sent"),
    recipient: z.string().nullable(),
    model: z.string().nullable(),
    calls: z.number().int(),
    first_row: z.string(),
    last_row: z.string(),
  })
  .meta({ id: "ResidencyPlace" });

export const residencyReport = z
  .strictObject({
    window: reportWindow,
    allowed_regions: z.array(z.string()).describe("the tenant's current regions; empty: any"),
    calls: z.number().int().describe("calls that were sent to somebody, or kept from being sent"),
    regions: z.array(
      z.strictObject({
        region: z.string().nullable(),
        allowed: z.boolean().nullable().describe("null where no region is known"),
        calls: z.number().int(),
        blocked: z.number().int(),
      }),
    ),
    places: z.array(residencyPlace).describe("each with its first and last row, which can be opened"),
  })
  .meta({ id: "ResidencyReport" });

export type ReportSeal = z.output<typeof reportSeal>;
export type SealedReport = z.output<typeof sealedReport>;
export type SealedReportWithReport = z.output<typeof sealedReportWithReport>;
export type GdprStatements = z.output<typeof gdprStatements>;
export type ResidencyReport = z.output<typeof residencyReport>;
export type ComplianceReport = z.output<typeof complianceReport>;
export type ComplianceProfile = z.output<typeof complianceProfile>;
export type ComplianceItem = z.output<typeof complianceItem>;
export type ComplianceEvidence = z.output<typeof complianceEvidence>;
export type Framework = (typeof FRAMEWORKS)[number];

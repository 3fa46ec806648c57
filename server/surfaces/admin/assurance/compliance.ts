import {
  complianceDashboard,
  complianceDashboardQuery,
  complianceProfile,
  complianceProfilePatch,
  complianceReport,
  complianceReportQuery,
  gdprStatements,
  reportSeal,
  residencyReport,
  sealedReport,
  sealedReportQuery,
  sealedReportWithReport,
  type ComplianceReport,
  type Framework,
} from "@gatehouse/contracts/compliance";
import { getGdprStatements, setGdprStatements } from "../../../directory/compliance/gdpr-statements.ts";
import { getComplianceProfile, setComplianceProfile } from "../../../directory/compliance/profile.ts";
import { readComplianceDashboard, readComplianceReport, readResidency } from "../../../directory/compliance/reports.ts";
import {
  exportSealedReport,
  listSealedReports,
  readSealedReport,
  sealComplianceReport,
} from "../../../directory/compliance/sealed-reports.ts";
import { csvCell } from "../../../kernel/text/csv.ts";
import { listOf } from "@gatehouse/contracts/conventions";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";
import { streamedAnswer } from "../streamed-answer.ts";

const PATH = "/v1/admin/compliance";
const reading = { tag: "Compliance", access: "compliance:read", reach: "one" } as const;

const REPORTS: readonly (readonly [string, Framework, string, string])[] = [
  ["gdpr/article-30", "gdpr_art_30", "Record of processing (GDPR, article 30)", "recipients by provider, model, tool server and region"],
  ["eu-ai-act/risk-classification", "eu_ai_act", "Risk classification (EU AI Act)", "resource groups with tier, dates and calls"],
  ["soc2/control-coverage", "soc2", "Coverage of controls (SOC 2)", "the items"],
  ["hipaa/phi-access", "hipaa", "Access to health information (HIPAA)", "who called through groups with phi_resource"],
  ["iso-42001/activity", "iso_42001", "Activity (ISO/IEC 42001)", "calls by kind and outcome"],
];

/** The columns of each table, so that even an empty table has them. */
const COLUMNS: Readonly<Record<Framework, readonly string[]>> = {
  soc2: ["control", "title", "status", "reason"],
  eu_ai_act: ["group_id", "group_name", "risk_tier", "lifecycle_state", "applies_from", "calls", "first_row"],
  hipaa: ["group_id", "group_name", "user_id", "username", "api_key_id", "calls", "first_row", "last_row"],
  gdpr_art_30: ["kind", "recipient", "model", "region", "residency_class", "calls", "first_row"],
  iso_42001: ["proxy_type", "success", "calls", "first_row"],
};

async function* asCsv({ framework, table }: ComplianceReport): AsyncGenerator<string> {
  const columns = COLUMNS[framework];
  yield `${columns.join(",")}\r\n`;
  for (const row of table) yield `${columns.map((column) => csvCell(row[column])).join(",")}\r\n`;
}

export const complianceOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/profile`,
    summary: "Read the compliance profile",
    description: "The frameworks the tenant reports under; none until it chooses some.",
    answer: { status: 200, about: "The profile", schema: complianceProfile },
    run: (call) => getComplianceProfile(call.services.directory.db, call.tenantId),
  }),
  operation({
    tag: "Compliance",
    access: "compliance:write",
    reach: "one",
    method: "PATCH",
    path: `${PATH}/profile`,
    summary: "Replace the compliance profile",
    description: "From the next call on, rows carry `compliance_tags` of these frameworks. An empty list ends that.",
    body: complianceProfilePatch,
    answer: { status: 200, about: "The profile as it is now", schema: complianceProfile },
    run: (call) => call.write((write) => setComplianceProfile(write, call.tenantId, call.body)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/dashboard`,
    summary: "How many items of each framework have which status",
    query: complianceDashboardQuery,
    answer: { status: 200, about: "Every framework, chosen or not", schema: complianceDashboard },
    run: (call) => readComplianceDashboard(call.services.directory, call.tenantId, call.query),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/gdpr/statements`,
    summary: "Read the tenant's statements in its record of processing",
    answer: { status: 200, about: "What it wrote; null where it wrote nothing", schema: gdprStatements },
    run: (call) => getGdprStatements(call.services.directory.db, call.tenantId),
  }),
  operation({
    tag: "Compliance",
    access: "compliance:write",
    reach: "one",
    method: "PATCH",
    path: `${PATH}/gdpr/statements`,
    summary: "Replace the tenant's statements in its record of processing",
    description: "Article 30(1)(a) to (c) of the GDPR: what a gateway cannot know. The record shows it as written.",
    body: gdprStatements,
    answer: { status: 200, about: "What it says now", schema: gdprStatements },
    run: (call) => call.write((write) => setGdprStatements(write, call.tenantId, call.body)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/residency`,
    summary: "Where content went",
    description:
      "By region and recipient, with the first and last row of each; calls refused because of their region are counted separately.",
    query: complianceDashboardQuery,
    answer: { status: 200, about: "Every place of the window", schema: residencyReport },
    run: (call) => readResidency(call.services.directory, call.tenantId, call.query),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/reports`,
    summary: "List sealed reports",
    description: "Newest first, without their content.",
    query: sealedReportQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("reports", sealedReport) },
    run: (call) => listed("reports", call, (page) => listSealedReports(call.services.directory, call.tenantId, call.query.framework, page)),
  }),
  operation({
    tag: "Compliance",
    access: "compliance:write",
    reach: "one",
    method: "POST",
    path: `${PATH}/reports`,
    summary: "Seal the report of a window",
    description:
      "It is computed now and stored: from then on this window and framework return exactly this report. Sealed in the admin log; 409 if it is sealed already.",
    body: reportSeal,
    answer: { status: 201, about: "The sealed report", schema: sealedReportWithReport },
    run: ({ services, tenantId, body, write }) =>
      sealComplianceReport(services.directory, (work) => write(work), tenantId, body, services.signingKey),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/reports/{id}`,
    summary: "Read a sealed report",
    answer: { status: 200, about: "The report as it was sealed", schema: sealedReportWithReport },
    run: (call) => readSealedReport(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/reports/{id}/export`,
    summary: "Export a sealed report as a signed document",
    description:
      "An in-toto statement in a DSSE envelope, signed by the key that signs the ledger's checkpoints. " +
      "`gatehouse verify report FILE --public-key FILE` verifies it with neither network nor database.",
    answer: { status: 200, about: "The envelope", media: "application/json" },
    async run(call) {
      const text = await exportSealedReport(call.services.directory, call.tenantId, idOf(call));
      const name = `compliance-report-${idOf(call)}.json`;
      return new Response(text, {
        headers: { "content-type": "application/json", "content-disposition": `attachment; filename="${name}"` },
      });
    },
  }),
  ...REPORTS.map(([path, framework, summary, table]) =>
    operation({
      ...reading,
      method: "GET",
      path: `${PATH}/${path}`,
      summary,
      description: `Each item with its status, reason and evidence. As CSV: ${table}. It reports what was observed and never claims compliance.`,
      query: complianceReportQuery,
      answer: { status: 200, about: "The report", schema: complianceReport },
      async run(call) {
        const report = await readComplianceReport(call.services.directory, call.tenantId, framework, call.query);
        return call.query.format === "csv" ? streamedAnswer(asCsv(report), "text/csv", `${path.replace("/", "-")}.csv`) : report;
      },
    }),
  ),
];

import type { ComplianceReport, ReportSeal, SealedReport, SealedReportWithReport } from "@gatehouse/contracts/compliance";
import { reportDigest, signedReport } from "@gatehouse/ledger-format/sealed-report";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import {
  findSealedReport,
  insertSealedReport,
  type ListedReport,
  sealedReportOf,
  sealedReportPage,
  type SealedReportRow,
} from "../../store/compliance/sealed-reports.ts";
import { notFound } from "../writes/records.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { type CountedReport, countReport } from "./reports.ts";

const RESOURCE = "compliance-reports";

/** The limits of a sealed report, stated in each one. */
const LIMITS = [
  "It tells what the gateway saw and was configured with. Calls that went past the gateway are not in it.",
  "It does not say that anybody is compliant.",
  "Its numbers are of the rows and entries up to the heads it names. Rows of calls that ended later are not in it.",
  "People are named by a digest: SHA-256 of the report's id, a colon and the person's id.",
];

function read(row: ListedReport): SealedReport {
  return {
    id: row.id,
    framework: row.framework as SealedReport["framework"],
    window: { from: row.window_from.toISOString(), to: row.window_to.toISOString() },
    digest: row.digest,
    sealed_by: row.sealed_by,
    created_at: row.created_at.toISOString(),
  };
}

/** Replaces people by digests, because a sealed report outlives the erasure of a person. */
function withoutPeople(id: string, { table, ...report }: ComplianceReport): ComplianceReport {
  const blind = (row: ComplianceReport["table"][number]) => {
    const { user_id: user } = row;
    if (user === undefined) return row;
    return { ...row, user_id: user === null ? null : `sha256:${sha256Hex(`${id}:${user}`)}`, username: null };
  };
  return { ...report, table: table.map(blind) };
}

/**
 * Counts the report before the write begins, because counting uses a read-only snapshot transaction. A window can be
 * sealed once; a second attempt is a `conflict` that names the first.
 */
export async function sealComplianceReport(
  directory: Pick<Directory, "db" | "clock">,
  change: <T>(work: (write: Write) => Promise<T>) => Promise<T>,
  tenantId: string,
  { framework, from, to }: ReportSeal,
  signingKey: string,
): Promise<SealedReportWithReport> {
  const counted = await countReport(directory, tenantId, framework, { from, to });
  return change((write) => keep(write, tenantId, counted, signingKey));
}

async function keep(write: Write, tenantId: string, counted: CountedReport, signingKey: string): Promise<SealedReportWithReport> {
  const { window, ledger, adminLog } = counted;
  const { framework } = counted.report;
  const sealedBefore = await sealedReportOf(write.trx, { ...window, framework });
  if (sealedBefore !== undefined)
    throw new Refused(refuse("conflict", "The report of this window is sealed already.", { extra: { existing_id: sealedBefore.id } }));
  const id = uuid();
  const report = withoutPeople(id, counted.report);
  const digest = reportDigest(report);
  const envelope = signedReport(
    {
      report_id: id,
      tenant_id: tenantId,
      framework,
      window: report.window,
      sealed_at: write.now.toISOString(),
      sealed_by: write.actor.username,
      report,
      ledger,
      admin_log: adminLog,
      limits: LIMITS,
    },
    signingKey,
  );
  await insertSealedReport(write.trx, {
    ...{ id, tenant_id: tenantId, framework, digest, envelope },
    window_from: window.from,
    window_to: window.to,
    content: JSON.stringify(report),
    sealed_by: write.actor.username,
    created_at: write.now,
  });
  sealRecord(write, {
    tenantId,
    system: systemAlone(null),
    action: "seal",
    resource: RESOURCE,
    resource_id: id,
    context: { record_type: "ai.gw.compliance-report", report_id: id, framework, from: report.window.from, to: report.window.to },
    references: [{ type: "ai.gw.compliance-report", digest_alg: "SHA-256", digest, purpose: "report_content" }],
  });
  const row = await findSealedReport(write.trx, tenantId, id);
  if (row === undefined) throw new Error("a sealed report is not there after it was written");
  return withReport(row);
}

const withReport = (row: SealedReportRow): SealedReportWithReport => ({
  ...read(row),
  report: JSON.parse(row.content) as ComplianceReport,
});

export async function listSealedReports(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  framework: string | undefined,
  page: Page,
): Promise<Paged<SealedReport>> {
  const { items, total } = await sealedReportPage(db, tenantId, framework, page);
  return { items: items.map(read), total };
}

async function found({ db }: Pick<Directory, "db">, tenantId: string, id: string): Promise<SealedReportRow> {
  const row = await findSealedReport(db, tenantId, id);
  if (row === undefined) throw notFound("sealed report");
  return row;
}

export async function readSealedReport(directory: Pick<Directory, "db">, tenantId: string, id: string): Promise<SealedReportWithReport> {
  return withReport(await found(directory, tenantId, id));
}

/** The signed statement exactly as created, byte for byte. */
export async function exportSealedReport(directory: Pick<Directory, "db">, tenantId: string, id: string): Promise<string> {
  return (await found(directory, tenantId, id)).envelope;
}

import { FRAMEWORKS, type ComplianceReport, type Framework, type ResidencyReport } from "@gatehouse/contracts/compliance";
import { notFound } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";
import { placesOfContent } from "../../store/compliance/compliance-facts.ts";
import type { FactWindow } from "../../store/compliance/fact-window.ts";
import { chainHeads, type StoredHead } from "../../store/ledger/chain-heads.ts";
import type { Trx } from "../../store/database.ts";
import { adminLogHead, sealedReportOf } from "../../store/compliance/sealed-reports.ts";
import { readingLedger } from "../ledger-readings.ts";
import { type ComplianceFacts, gatherFacts, reportedTenant } from "./facts.ts";
import { readFrameworks } from "./profile.ts";
import { type ProgramFacts, COMPLIANCE_PROGRAMS } from "./programs.ts";
import { type RequestedWindow, reportWindowOf } from "./report-window.ts";

/** The source that each report cites; `CHECKED` is when the wording was last compared with these. */
const CITES: Readonly<Record<Framework, string>> = {
  soc2: "AICPA Trust Services Criteria 2017, points of focus revised 2022",
  eu_ai_act: "Regulation (EU) 2024/1689 as amended by Regulation (EU) 2026/1744 (read in secondary texts that quote it)",
  hipaa: "45 CFR 164.312 and 164.316(b)(2), without the rule proposed on 6 January 2025",
  gdpr_art_30: "Regulation (EU) 2016/679, Article 30",
  iso_42001: "ISO/IEC 42001:2023, Annex A (ids and titles)",
};
const CHECKED = "2026-11-23";

const shown = ({ from, to }: FactWindow) => ({ from: from.toISOString(), to: to.toISOString() });

/** Reads everything in one snapshot, so that a report's numbers agree with each other. */
function inSnapshot<T>(directory: Pick<Directory, "db">, { tenantId }: FactWindow, work: (trx: Trx) => Promise<T>): Promise<T> {
  return readingLedger(directory.db, tenantId, () =>
    directory.db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute(work),
  );
}

const withFacts = <T>(directory: Pick<Directory, "db">, window: FactWindow, work: (facts: ComplianceFacts) => Promise<T>): Promise<T> =>
  inSnapshot(directory, window, async (trx) => work(await gatherFacts(trx, window)));

const reportOf = (framework: Framework, window: FactWindow, programFacts: ProgramFacts): ComplianceReport => ({
  framework,
  text: { cites: CITES[framework], checked: CHECKED },
  generated_at: window.to.toISOString(),
  window: shown(window),
  items: [...programFacts.items],
  table: [...programFacts.table],
});

/** A sealed window is returned as sealed, whatever was configured or deleted since. */
export async function readComplianceReport(
  directory: Pick<Directory, "db" | "clock">,
  tenantId: string,
  framework: Framework,
  requested: RequestedWindow,
): Promise<ComplianceReport> {
  const window = reportWindowOf(directory, tenantId, requested);
  if ((await readFrameworks(directory.db, tenantId)) === undefined) throw notFound("tenant");
  const sealed = await sealedReportOf(directory.db, { ...window, framework });
  if (sealed !== undefined) return JSON.parse(sealed.content) as ComplianceReport;
  return reportOf(framework, window, await withFacts(directory, window, COMPLIANCE_PROGRAMS[framework]));
}

/** A report with the heads of the chains and the admin log at the time of counting, all from one snapshot. */
export interface CountedReport {
  readonly window: FactWindow;
  readonly report: ComplianceReport;
  readonly ledger: readonly StoredHead[];
  readonly adminLog: { readonly seq: number; readonly entry_hash: string };
}

export async function countReport(
  directory: Pick<Directory, "db" | "clock">,
  tenantId: string,
  framework: Framework,
  asked: RequestedWindow,
): Promise<CountedReport> {
  const window = reportWindowOf(directory, tenantId, asked);
  return withFacts(directory, window, async (facts) => ({
    window,
    report: reportOf(framework, window, await COMPLIANCE_PROGRAMS[framework](facts)),
    ledger: await chainHeads(facts.trx),
    adminLog: await adminLogHead(facts.trx),
  }));
}

export async function readComplianceDashboard(directory: Pick<Directory, "db" | "clock">, tenantId: string, requested: RequestedWindow) {
  const window = reportWindowOf(directory, tenantId, requested);
  const enabled = await readFrameworks(directory.db, tenantId);
  if (enabled === undefined) throw notFound("tenant");
  const frameworks = await withFacts(directory, window, async (facts) => {
    const summaries = [];
    for (const framework of FRAMEWORKS) {
      const { items } = await COMPLIANCE_PROGRAMS[framework](facts);
      const statuses: Record<string, number> = {};
      for (const { status } of items) statuses[status] = (statuses[status] ?? 0) + 1;
      summaries.push({ framework, enabled: enabled.includes(framework), items: items.length, statuses });
    }
    return summaries;
  });
  return { frameworks, window: shown(window) };
}

/** Where content was sent, by region, with the rows that show it. */
export async function readResidency(
  directory: Pick<Directory, "db" | "clock">,
  tenantId: string,
  asked: RequestedWindow,
): Promise<ResidencyReport> {
  const window = reportWindowOf(directory, tenantId, asked);
  if ((await readFrameworks(directory.db, tenantId)) === undefined) throw notFound("tenant");
  const { places, allowed } = await inSnapshot(directory, window, async (trx) => ({
    places: await placesOfContent(trx, window),
    allowed: (await reportedTenant(trx, window)).allowed_regions,
  }));
  const regions = new Map<string | null, { calls: number; blocked: number }>();
  for (const { region, kind, calls } of places) {
    const sums = regions.get(region) ?? { calls: 0, blocked: 0 };
    regions.set(region, sums);
    sums[kind === "nobody" ? "blocked" : "calls"] += calls;
  }
  const isAllowed = (region: string | null) => (region === null ? null : allowed.length === 0 || allowed.includes(region));
  return {
    window: shown(window),
    allowed_regions: [...allowed],
    calls: places.reduce((sum, { calls }) => sum + calls, 0),
    regions: [...regions].map(([region, sums]) => ({ region, allowed: isAllowed(region), ...sums })),
    places,
  };
}

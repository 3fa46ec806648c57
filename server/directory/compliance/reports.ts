import {
  FRAMEWORKS,
  type ComplianceItem,
  type ComplianceReport,
  type Framework,
  type ResidencyReport,
} from "@gatehouse/contracts/compliance";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";
import {
  activity,
  classifiedSystems,
  type FactWindow,
  healthAccess,
  placesOfContent,
  recipients,
  type TableRow,
} from "../../store/compliance-facts.ts";
import { chainHeads, type StoredHead } from "../../store/assurance-snapshots.ts";
import { adminLogHead, sealedReportOf } from "../../store/sealed-reports.ts";
import { euAiActItems, withDates } from "./eu-ai-act.ts";
import { type ComplianceFacts, gatherFacts } from "./facts.ts";
import { gdprItems, hipaaItems, isoItems } from "./items.ts";
import { readFrameworks } from "./profile.ts";
import { soc2Items } from "./soc2.ts";

/** What each report cites, and when the wording was last compared with it. */
const CITES: Readonly<Record<Framework, string>> = {
  soc2: "AICPA Trust Services Criteria 2017, points of focus revised 2022",
  eu_ai_act: "Regulation (EU) 2024/1689 as amended by Regulation (EU) 2026/1744 (read in secondary texts that quote it)",
  hipaa: "45 CFR 164.312 and 164.316(b)(2), without the rule proposed on 6 January 2025",
  gdpr_art_30: "Regulation (EU) 2016/679, Article 30",
  iso_42001: "ISO/IEC 42001:2023, Annex A (ids and titles)",
};
const CHECKED = "2026-11-23";
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 400;

interface Asked {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A window that is over, so that what is told of it stays so. */
function windowOf(directory: Pick<Directory, "clock">, tenantId: string, asked: Asked): FactWindow {
  const now = directory.clock.now();
  const to = asked.to === undefined ? now - (now % MINUTE_MS) : Date.parse(asked.to);
  const from = asked.from === undefined ? to - DEFAULT_DAYS * DAY_MS : Date.parse(asked.from);
  if (to > now) throw invalidField("to", "must not be in the future");
  if (from >= to) throw invalidField("from", "must be before to");
  if (from < 0) throw invalidField("from", "must not be before 1970");
  if (to - from > MAX_DAYS * DAY_MS) throw invalidField("from", `must be at most ${MAX_DAYS} days before to`);
  return { tenantId, from: new Date(from), to: new Date(to) };
}

const shown = ({ from, to }: FactWindow) => ({ from: from.toISOString(), to: to.toISOString() });

interface Told {
  readonly items: readonly ComplianceItem[];
  readonly table: readonly TableRow[];
}

/** One program for each framework over the same facts. */
const PROGRAMS: Readonly<Record<Framework, (facts: ComplianceFacts) => Promise<Told>>> = {
  soc2: async (facts) => {
    const items = soc2Items(facts);
    return { items, table: items.map(({ control, title, status, reason }) => ({ control, title, status, reason })) };
  },
  eu_ai_act: async (facts) => {
    const systems = await classifiedSystems(facts.trx, facts.window);
    return { items: euAiActItems(facts, systems), table: withDates(systems) };
  },
  hipaa: async (facts) => {
    const { groups, table } = await healthAccess(facts.trx, facts.window);
    return { items: hipaaItems(facts, groups, table), table };
  },
  gdpr_art_30: async (facts) => {
    const table = await recipients(facts.trx, facts.window);
    return { items: gdprItems(facts, table), table };
  },
  iso_42001: async (facts) => {
    const table = await activity(facts.trx, facts.window);
    return { items: isoItems(facts), table };
  },
};

/** Reads everything of one moment, so that the numbers of a report agree with each other. */
function withFacts<T>(directory: Pick<Directory, "db">, window: FactWindow, work: (facts: ComplianceFacts) => Promise<T>): Promise<T> {
  return directory.db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (trx) => work(await gatherFacts(trx, window)));
}

const reportOf = (framework: Framework, window: FactWindow, told: Told): ComplianceReport => ({
  framework,
  text: { cites: CITES[framework], checked: CHECKED },
  generated_at: window.to.toISOString(),
  window: shown(window),
  items: [...told.items],
  table: [...told.table],
});

/** A window that was sealed is told as it was sealed, whatever was configured or removed since. */
export async function readComplianceReport(
  directory: Pick<Directory, "db" | "clock">,
  tenantId: string,
  framework: Framework,
  asked: Asked,
): Promise<ComplianceReport> {
  const window = windowOf(directory, tenantId, asked);
  if ((await readFrameworks(directory.db, tenantId)) === undefined) throw notFound("tenant");
  const sealed = await sealedReportOf(directory.db, { ...window, framework });
  if (sealed !== undefined) return JSON.parse(sealed.content) as ComplianceReport;
  return reportOf(framework, window, await withFacts(directory, window, PROGRAMS[framework]));
}

/** A report with where the chains and the admin log stood as it was counted: all of one moment. */
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
  asked: Asked,
): Promise<CountedReport> {
  const window = windowOf(directory, tenantId, asked);
  return withFacts(directory, window, async (facts) => ({
    window,
    report: reportOf(framework, window, await PROGRAMS[framework](facts)),
    ledger: await chainHeads(facts.trx),
    adminLog: await adminLogHead(facts.trx),
  }));
}

export async function readComplianceDashboard(directory: Pick<Directory, "db" | "clock">, tenantId: string, asked: Asked) {
  const window = windowOf(directory, tenantId, asked);
  const enabled = await readFrameworks(directory.db, tenantId);
  if (enabled === undefined) throw notFound("tenant");
  const frameworks = await withFacts(directory, window, async (facts) => {
    const told = [];
    for (const framework of FRAMEWORKS) {
      const { items } = await PROGRAMS[framework](facts);
      const statuses: Record<string, number> = {};
      for (const { status } of items) statuses[status] = (statuses[status] ?? 0) + 1;
      told.push({ framework, enabled: enabled.includes(framework), items: items.length, statuses });
    }
    return told;
  });
  return { frameworks, window: shown(window) };
}

/** Where content went by region, each place with the rows that show it. */
export async function readResidency(directory: Pick<Directory, "db" | "clock">, tenantId: string, asked: Asked): Promise<ResidencyReport> {
  const window = windowOf(directory, tenantId, asked);
  if ((await readFrameworks(directory.db, tenantId)) === undefined) throw notFound("tenant");
  const { places, allowed } = await withFacts(directory, window, async ({ trx, tenant }) => ({
    places: await placesOfContent(trx, window),
    allowed: tenant.allowed_regions,
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

import type { Conformance, ContractDocument } from "@gatehouse/contracts/ai-contracts";
import { DRIFT_KINDS, SEVERITIES } from "@gatehouse/contracts/ai-drift";
import { uuid } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import { activeContract, type ContractRow } from "../../store/assurance/ai-contracts.ts";
import { observationsOf, observeRows } from "../../store/assurance/ai-observations.ts";
import { type AiSystemRow, aiSystemStore } from "../../store/assurance/ai-systems.ts";
import type { Database } from "../../store/database.ts";
import { type EpochRow, newestEpoch } from "../../store/assurance/baseline-epochs.ts";
import {
  findingsOfKinds,
  type FindingPatch,
  type FindingRow,
  insertFinding,
  lockedFinding,
  updateFinding,
} from "../../store/assurance/drift-findings.ts";
import { areSystemsWatched, type WatchedSystem, watchedSystems } from "../../store/assurance/watched-systems.ts";
import { type WindowRow, windowsOfSystem } from "../../store/assurance/incident-windows.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import { type Actor, type Directory, write, type Write } from "../writes/write.ts";
import { type HourOfCalls, isAnotherShift, METRICS, type Shift, shiftsIn } from "./drift-statistics.ts";
import { figuresIn, freezeBaseline, hasLearned, type LearningTerms, normalIn, quietHours } from "./baselines.ts";
import { conformanceOf } from "./contracts.ts";
import { driftSightings, type Sighting } from "./drift-sightings.ts";
import { expireResponses, respondTo } from "./responses.ts";
import { lockedSystem } from "./ai-systems.ts";
import { livenessOf, usualHours } from "./liveness.ts";

const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
/** Minimum interval between checks of a system, since a busy one always has news. */
const MIN_CHECK_INTERVAL_MS = 2_000;
/** Systems without news are checked at this interval too, because silence produces no news. */
const CHECK_INTERVAL_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Bounded, because the ledger is read only once per run. */
const RUN_FOR_MS = 5_000;
const MAX_CONCURRENT = 4;
/** After one of these resolutions, seeing the same again is no new finding. */
const SETTLED = new Set(["false_positive", "risk_accepted", "duplicate"]);

/** What a system's whole hours show; unchanged until the next hour is over. */
interface HourlyFigures {
  /** Identifies the inputs it was computed from. */
  readonly of: string;
  readonly quiet: readonly HourOfCalls[];
  readonly active: readonly number[];
}

/** Looks for drift in every AI System as the ledger and configuration change. Safe to run in several processes. */
export class DriftWatch {
  private readonly lastWatched = new Map<string, { readonly news: string; readonly at: number }>();
  /** Conformance by system, valid until the configuration changes. */
  private readonly conformances = new Map<string, { readonly configuration: string; readonly conformance: Conformance }>();
  private readonly hourly = new Map<string, HourlyFigures>();
  private readonly directory: Directory;
  private readonly terms: LearningTerms;
  private readonly log: Log;

  constructor(directory: Directory, terms: LearningTerms, log: Log) {
    this.directory = directory;
    this.terms = terms;
    this.log = log;
  }

  async run(): Promise<void> {
    if (!(await areSystemsWatched(this.directory.db))) return;
    await write(this.directory, GATEWAY, async (change) => {
      if ((await expireResponses(change)) === 0) change.stay({}, {}, null);
    });
    while (await observeRows(this.directory.db));
    const systems = await watchedSystems(this.directory.db);
    // Starts with the system whose last check is oldest, so that systems with news do not starve the others.
    const since = ({ id }: WatchedSystem) => this.lastWatched.get(id)?.at ?? 0;
    const began = this.directory.clock.now();
    const due = systems.filter((one) => this.isDue(one, began)).sort((a, b) => since(a) - since(b));
    // Stops after a while, so that new ledger rows are read before more systems are checked.
    for (let at = 0; at < due.length && this.directory.clock.now() - began <= RUN_FOR_MS; at += MAX_CONCURRENT)
      await Promise.all(due.slice(at, at + MAX_CONCURRENT).map((one) => this.watch(one)));
    const known = new Set(systems.map(({ id }) => id));
    for (const map of [this.lastWatched, this.conformances, this.hourly]) for (const id of map.keys()) if (!known.has(id)) map.delete(id);
  }

  private isDue({ id, news }: WatchedSystem, now: number): boolean {
    const before = this.lastWatched.get(id);
    if (before === undefined) return true;
    return now - before.at >= CHECK_INTERVAL_MS || (now - before.at >= MIN_CHECK_INTERVAL_MS && before.news !== news);
  }

  private async watch({ tenant_id: tenantId, id, configuration, news }: WatchedSystem): Promise<void> {
    const at = this.directory.clock.now();
    try {
      await this.watchSystem(tenantId, id, configuration);
      this.lastWatched.set(id, { news, at });
    } catch (error) {
      this.log.warn("drift_not_checked", { tenant_id: tenantId, ai_system_id: id, error: error as Error });
    }
  }

  private async watchSystem(tenantId: string, systemId: string, configuration: string): Promise<void> {
    const { directory } = this;
    const { db } = directory;
    const now = directory.clock.now();
    if ((await newestEpoch(db, tenantId, systemId)) === undefined && (await hasLearned(db, tenantId, systemId, this.terms, now)))
      await write(directory, GATEWAY, async (change) => {
        // Another process may be freezing it at the same time.
        await lockedSystem(change, tenantId, systemId);
        if ((await newestEpoch(change.trx, tenantId, systemId)) !== undefined) change.stay({}, {}, null);
        await freezeBaseline(change, tenantId, systemId, null);
      });
    const findings = await db.transaction().execute((trx) => findingsOfKinds(trx, systemId, DRIFT_KINDS));
    const sightings = await this.sightings(tenantId, systemId, configuration, findings);
    for (const sighting of sightings) await this.notify(tenantId, systemId, sighting, findings);
  }

  private async sightings(tenantId: string, systemId: string, configuration: string, findings: readonly FindingRow[]): Promise<Sighting[]> {
    const { directory } = this;
    const { db } = directory;
    const system = await aiSystemStore.find(db, tenantId, systemId);
    if (system === undefined) return [];
    const active = await activeContract(db, tenantId, systemId);
    const epoch = await newestEpoch(db, tenantId, systemId);
    const windows = await windowsOfSystem(db, tenantId, systemId);
    const observations = await observationsOf(db, tenantId, systemId);
    const now = directory.clock.now();
    const hourly = await this.hourlyOf(tenantId, systemId, epoch, windows);
    return driftSightings({
      observations,
      windows,
      shifts: epoch === undefined ? [] : shiftsSince(epoch, hourly.quiet, findings),
      contract:
        active === undefined
          ? null
          : {
              version: active.version,
              since: active.promoted_at ?? active.created_at,
              clauses: (JSON.parse(active.content) as ContractDocument).clauses,
              conformance: await this.conformance(system, active, configuration),
            },
      normal: epoch === undefined ? null : normalIn(epoch),
      liveness: await livenessOf(db, tenantId, systemId, now, { observations, hours: hourly.active }),
      now: new Date(now),
    });
  }

  private async conformance(system: AiSystemRow, active: ContractRow, configuration: string): Promise<Conformance> {
    const known = this.conformances.get(system.id);
    if (known?.configuration === configuration) return known.conformance;
    const conformance = await conformanceOf(this.directory, system, active);
    this.conformances.set(system.id, { configuration, conformance });
    return conformance;
  }

  private async hourlyOf(
    tenantId: string,
    systemId: string,
    epoch: EpochRow | undefined,
    windows: readonly WindowRow[],
  ): Promise<HourlyFigures> {
    const { db, clock } = this.directory;
    const now = clock.now();
    const windowKeys = windows.map(({ id, started_at: start, ended_at: end }) => `${id} ${start.getTime()} ${end?.getTime() ?? ""}`);
    const of = [Math.floor(now / HOUR_MS), epoch?.id, ...windowKeys].join("/");
    const known = this.hourly.get(systemId);
    if (known?.of === of) return known;
    const measured = epoch !== undefined && figuresIn(epoch) !== null;
    const quiet = measured ? await quietHours(db, tenantId, systemId, epoch.created_at.getTime(), now, windows) : [];
    const read = { of, quiet, active: await usualHours(db, tenantId, systemId, now) };
    this.hourly.set(systemId, read);
    return read;
  }

  /** Opens a finding for something new, and updates the open finding otherwise. */
  private async notify(tenantId: string, systemId: string, sighting: Sighting, findings: readonly FindingRow[]): Promise<void> {
    const same = findings.filter(({ kind, subject }) => kind === sighting.kind && subject === sighting.subject);
    const open = same.find(({ status }) => status === "open");
    if (open !== undefined)
      return isWorse(open, sighting)
        ? write(this.directory, GATEWAY, (change) => worsened(change, open, sighting))
        : counted(this.directory.db, open, sighting);
    if (same.some((closed) => isSettled(closed, sighting, this.directory.clock.now()))) return;
    await write(this.directory, GATEWAY, (change) => opened(change, tenantId, systemId, sighting));
  }
}

/** Only counts hours after the last finding of this metric was closed. */
function shiftsSince(epoch: EpochRow, hours: readonly HourOfCalls[], findings: readonly FindingRow[]): Shift[] {
  const figures = figuresIn(epoch);
  if (figures === null) return [];
  return METRICS.flatMap((metric) => {
    const closed = Math.max(0, ...findings.filter(({ kind }) => kind === metric).map(({ closed_at: at }) => at?.getTime() ?? 0));
    const since = closed === 0 ? hours : hours.filter(({ at }) => at >= closed);
    return shiftsIn(since, { [metric]: figures[metric] ?? null });
  });
}

function isSettled({ kind, resolution, closed_at: closedAt, detail }: FindingRow, sighting: Sighting, now: number): boolean {
  if (sighting.lastSeen.getTime() <= (closedAt?.getTime() ?? 0)) return true;
  if (!SETTLED.has(String(resolution?.kind))) return false;
  if (typeof resolution?.expires_at === "string" && Date.parse(resolution.expires_at) <= now) return false;
  const metric = METRICS.find((one) => one === kind);
  // A resolution covers the shift that was seen, not every later one of the same metric.
  if (metric !== undefined) return !isAnotherShift(metric, detail, sighting.detail);
  // A configuration finding is the same only while the configuration is.
  return detail.live_digest === sighting.detail.live_digest;
}

const isWorse = (open: FindingRow, { severity }: Sighting): boolean =>
  SEVERITIES.indexOf(severity) > SEVERITIES.indexOf(open.severity as Sighting["severity"]);

const seenAgain = ({ occurrences, lastSeen, lastRow, detail, severity, title }: Sighting): FindingPatch => ({
  ...{ occurrences, severity, title },
  last_seen: lastSeen,
  last_row: lastRow,
  detail: JSON.stringify(detail),
  updated_at: new Date(),
});

async function counted(db: Database, open: FindingRow, sighting: Sighting): Promise<void> {
  const { occurrences, lastRow, detail } = sighting;
  if (open.occurrences === occurrences && open.last_row === lastRow && open.detail.live_digest === detail.live_digest) return;
  await db.transaction().execute((trx) => updateFinding(trx, open.id, seenAgain(sighting)));
}

/** An open finding that worsened triggers responses like a new one of that severity. */
async function worsened(change: Write, { id, tenant_id: tenantId, ai_system_id: systemId }: FindingRow, sighting: Sighting): Promise<void> {
  const { kind, severity, subject, title } = sighting;
  const row = await lockedFinding(change.trx, tenantId, id);
  // Another process may have recorded this already, or somebody closed the finding.
  if (row === undefined || row.status !== "open" || !isWorse(row, sighting)) return change.stay({}, {}, null);
  await updateFinding(change.trx, id, seenAgain(sighting));
  sealRecord(change, {
    tenantId,
    system: systemAlone(systemId),
    action: "worsen",
    resource: "drift-findings",
    resource_id: id,
    context: { record_type: "ai.gw.drift-finding", kind, severity, subject, title, was: row.severity },
  });
  await respondTo(change, tenantId, systemId, { id, kind, severity, title });
}

async function opened(change: Write, tenantId: string, systemId: string, sighting: Sighting): Promise<void> {
  const { kind, severity, subject, title, detail, occurrences, firstSeen, lastSeen, firstRow, lastRow } = sighting;
  const id = uuid();
  await insertFinding(change.trx, {
    ...{ id, tenant_id: tenantId, ai_system_id: systemId, kind, severity, subject, title, occurrences },
    detail: JSON.stringify(detail),
    first_seen: firstSeen,
    last_seen: lastSeen,
    first_row: firstRow,
    last_row: lastRow,
    created_at: change.now,
    updated_at: change.now,
  });
  sealRecord(change, {
    tenantId,
    system: systemAlone(systemId),
    action: "find",
    resource: "drift-findings",
    resource_id: id,
    context: { record_type: "ai.gw.drift-finding", kind, severity, subject, title, first_row: firstRow },
  });
  await respondTo(change, tenantId, systemId, { id, kind, severity, title });
}

import type { Conformance, ContractDocument } from "@gatehouse/contracts/ai-contracts";
import { DRIFT_KINDS } from "@gatehouse/contracts/ai-drift";
import { uuid } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import { activeContract, type ContractRow } from "../../store/ai-contracts.ts";
import { observationsOf, observeRows } from "../../store/ai-observations.ts";
import { type AiSystemRow, aiSystemStore } from "../../store/ai-systems.ts";
import type { Database } from "../../store/database.ts";
import {
  type EpochRow,
  findingsOfKinds,
  type FindingRow,
  insertFinding,
  newestEpoch,
  newsOf,
  updateFinding,
  watchedSystems,
} from "../../store/drift-findings.ts";
import { type WindowRow, windowsOfSystem } from "../../store/incident-windows.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import { type Actor, type Directory, write, type Write } from "../writes/write.ts";
import { METRICS, type Shift, shiftsIn } from "./drift-statistics.ts";
import { figuresIn, freezeBaseline, hasLearned, type LearningTerms, normalIn, quietHours } from "./baselines.ts";
import { conformanceOf } from "./contracts.ts";
import { driftSightings, type Sighting } from "./drift-sightings.ts";
import { expireResponses, respondTo } from "./responses.ts";
import { livenessOf } from "./liveness.ts";

const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
/** A busy system has news all the time. */
const LOOKED_AT_MOST_MS = 2_000;
/** A system with no news is looked at all the same: nothing tells of its silence. */
const LOOKED_AT_MS = 60_000;
/** Closed so, what is seen again is no new finding. */
const SETTLED = new Set(["false_positive", "risk_accepted", "duplicate"]);

/** Looks for drift in every AI System, as the ledger and the configuration move on. Safe to run in several processes. */
export class DriftWatch {
  private readonly looked = new Map<string, { readonly news: string; readonly at: number }>();
  /** What the configuration was found to be, until it changes. */
  private readonly conformances = new Map<string, { readonly configuration: string; readonly conformance: Conformance }>();
  private readonly directory: Directory;
  private readonly terms: LearningTerms;
  private readonly log: Log;

  constructor(directory: Directory, terms: LearningTerms, log: Log) {
    this.directory = directory;
    this.terms = terms;
    this.log = log;
  }

  async run(): Promise<void> {
    const systems = await watchedSystems(this.directory.db);
    if (systems.length === 0) return;
    await write(this.directory, GATEWAY, async (change) => {
      if ((await expireResponses(change)) === 0) change.stay({}, {}, null);
    });
    while (await observeRows(this.directory.db));
    for (const { tenant_id: tenantId, id } of systems) {
      const before = this.looked.get(id);
      const now = this.directory.clock.now();
      if (before !== undefined && now - before.at < LOOKED_AT_MOST_MS) continue;
      const { configuration, all } = await newsOf(this.directory.db, tenantId, id);
      if (before?.news === all && now - before.at < LOOKED_AT_MS) continue;
      try {
        await this.look(tenantId, id, configuration);
        this.looked.set(id, { news: all, at: now });
      } catch (error) {
        this.log.warn("drift_not_looked_for", { tenant_id: tenantId, ai_system_id: id, error: error as Error });
      }
    }
    const known = new Set(systems.map(({ id }) => id));
    for (const map of [this.looked, this.conformances]) for (const id of map.keys()) if (!known.has(id)) map.delete(id);
  }

  private async look(tenantId: string, systemId: string, configuration: string): Promise<void> {
    const { directory } = this;
    const { db } = directory;
    const now = directory.clock.now();
    if ((await newestEpoch(db, tenantId, systemId)) === undefined && (await hasLearned(db, tenantId, systemId, this.terms, now)))
      await write(directory, GATEWAY, (change) => freezeBaseline(change, tenantId, systemId, null));
    const findings = await db.transaction().execute((trx) => findingsOfKinds(trx, systemId, DRIFT_KINDS));
    const sightings = await this.sightings(tenantId, systemId, configuration, findings);
    for (const sighting of sightings) await this.tell(tenantId, systemId, sighting, findings);
  }

  private async sightings(tenantId: string, systemId: string, configuration: string, findings: readonly FindingRow[]): Promise<Sighting[]> {
    const { directory } = this;
    const { db } = directory;
    const system = await aiSystemStore.find(db, tenantId, systemId);
    if (system === undefined) return [];
    const active = await activeContract(db, tenantId, systemId);
    const epoch = await newestEpoch(db, tenantId, systemId);
    const windows = await windowsOfSystem(db, tenantId, systemId);
    return driftSightings({
      observations: await observationsOf(db, tenantId, systemId),
      windows,
      shifts: epoch === undefined ? [] : await this.shifts(tenantId, systemId, epoch, windows, findings),
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
      liveness: await livenessOf(db, tenantId, systemId, directory.clock.now()),
      now: new Date(directory.clock.now()),
    });
  }

  private async conformance(system: AiSystemRow, active: ContractRow, configuration: string): Promise<Conformance> {
    const known = this.conformances.get(system.id);
    if (known?.configuration === configuration) return known.conformance;
    const conformance = await conformanceOf(this.directory, system, active);
    this.conformances.set(system.id, { configuration, conformance });
    return conformance;
  }

  /** Since the epoch, and since a finding of the same kind was closed: what was closed is no news. */
  private async shifts(
    tenantId: string,
    systemId: string,
    epoch: EpochRow,
    windows: readonly WindowRow[],
    findings: readonly FindingRow[],
  ): Promise<Shift[]> {
    const figures = figuresIn(epoch);
    if (figures === null) return [];
    const { db, clock } = this.directory;
    const hours = await quietHours(db, tenantId, systemId, epoch.created_at.getTime(), clock.now(), windows);
    return METRICS.flatMap((metric) => {
      const closed = Math.max(0, ...findings.filter(({ kind }) => kind === metric).map(({ closed_at: at }) => at?.getTime() ?? 0));
      return shiftsIn(
        hours.filter(({ at }) => at >= closed),
        figures,
      ).filter((shift) => shift.metric === metric);
    });
  }

  /** Makes a finding of what nobody was told of yet, and counts on in one that is open. */
  private async tell(tenantId: string, systemId: string, sighting: Sighting, findings: readonly FindingRow[]): Promise<void> {
    const same = findings.filter(({ kind, subject }) => kind === sighting.kind && subject === sighting.subject);
    const open = same.find(({ status }) => status === "open");
    if (open !== undefined) return counted(this.directory.db, open, sighting);
    if (same.some((closed) => isSettled(closed, sighting))) return;
    await write(this.directory, GATEWAY, (change) => opened(change, tenantId, systemId, sighting));
  }
}

function isSettled({ resolution, closed_at: closedAt, detail }: FindingRow, sighting: Sighting): boolean {
  if (sighting.lastSeen.getTime() <= (closedAt?.getTime() ?? 0)) return true;
  if (!SETTLED.has(String(resolution?.kind))) return false;
  // Of the configuration, which is another with each change.
  return detail.live_digest === sighting.detail.live_digest;
}

async function counted(
  db: Database,
  open: FindingRow,
  { occurrences, lastSeen, lastRow, detail, severity, title }: Sighting,
): Promise<void> {
  if (open.occurrences === occurrences && open.last_row === lastRow && open.detail.live_digest === detail.live_digest) return;
  await db
    .transaction()
    .execute((trx) =>
      updateFinding(trx, open.id, {
        ...{ occurrences, severity, title },
        last_seen: lastSeen,
        last_row: lastRow,
        detail: JSON.stringify(detail),
        updated_at: new Date(),
      }),
    );
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

import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import type { BaselineEpoch, Baselines } from "@gatehouse/contracts/ai-drift";
import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { hoursOfSystem, MAX_PER_KIND, type ObservationRow, observationsOf } from "../../store/assurance/ai-observations.ts";
import type { Database, Trx } from "../../store/database.ts";
import { epochPage, type EpochRow, insertEpoch, newestEpoch } from "../../store/assurance/baseline-epochs.ts";
import { replayTimes } from "../../store/assurance/replay.ts";
import { responseTimes } from "../../store/assurance/responses.ts";
import { type WindowRow, windowsOfSystem } from "../../store/assurance/incident-windows.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { foundSystem } from "./ai-systems.ts";
import { type HourOfCalls, type Metric, type NormalFigures, normalFigures, plotsOf } from "./drift-statistics.ts";

const BASELINE_SCHEMA = "ai.gw/baseline/v1";
const MAX_LISTED_PER_KIND = 100;
const KINDS = ["model", "tool", "caller", "prompt", "data"] as const;
type SeenKind = (typeof KINDS)[number];

/** After this many days the baseline is frozen from whatever was observed, unless there were fewer calls than this. */
const LEARNED_WITHIN_DAYS = 30;
const MIN_LEARNED_CALLS = 200;

export type Normal = Record<string, string[]>;

/** What a system must show before its baseline is frozen automatically. */
export interface LearningTerms {
  readonly calls: number;
  readonly days: number;
}

/** Whether it was observed only during an incident window, and so does not count as normal. */
export function isSetAside(
  { first_seen: from, last_seen: to }: Pick<ObservationRow, "first_seen" | "last_seen">,
  windows: readonly WindowRow[],
): boolean {
  return windows.some((window) => window.started_at <= from && (window.ended_at === null || to <= window.ended_at));
}

/** What is normal, by kind. A kind with too many distinct observations has no normal. */
function normalOf(observations: readonly ObservationRow[], windows: readonly WindowRow[]): Normal {
  const normal: Normal = {};
  for (const kind of KINDS) {
    const of = observations.filter((one) => one.kind === kind);
    if (of.length < MAX_PER_KIND)
      normal[kind] = of
        .filter((one) => !isSetAside(one, windows))
        .map(({ subject }) => subject)
        .sort();
  }
  return normal;
}

const HOUR_MS = 3_600_000;
const SHOWN_MS = 14 * 24 * HOUR_MS;
const NO_CALLS = { calls: 0, errors: 0, micros: 0, unpriced: 0, tokens: 0 };
/** How far back the figures are learned from. */
const LEARNED_FROM_MS = 30 * 24 * HOUR_MS;

/**
 * The whole hours in that time outside incident windows, replays and restrictive responses. Hours without calls are
 * included from the first call on. `from` and `now` are epoch milliseconds.
 */
export async function quietHours(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
  from: number,
  now: number,
  windows: readonly WindowRow[],
): Promise<HourOfCalls[]> {
  const whole = new Date(Math.floor(now / HOUR_MS) * HOUR_MS);
  const hours = await hoursOfSystem(db, tenantId, systemId, new Date(Math.ceil(from / HOUR_MS) * HOUR_MS), whole);
  const [first] = hours;
  if (first === undefined) return [];
  const since = new Date(from);
  const aside = [
    ...windows,
    ...(await replayTimes(db, tenantId, systemId, since)),
    ...(await responseTimes(db, tenantId, systemId, since)),
  ];
  const isIn = (at: number) =>
    aside.some(({ started_at: start, ended_at: end }) => start.getTime() < at + HOUR_MS && (end === null || end.getTime() > at));
  const called = new Map(hours.map(({ hour, ...figures }) => [hour.getTime(), figures]));
  const all: HourOfCalls[] = [];
  for (let at = first.hour.getTime(); at < whole.getTime(); at += HOUR_MS) if (!isIn(at)) all.push({ at, ...(called.get(at) ?? NO_CALLS) });
  return all;
}

export const figuresIn = (row: Pick<EpochRow, "content">): NormalFigures | null =>
  (JSON.parse(row.content) as { figures?: NormalFigures }).figures ?? null;

export const normalIn = (row: Pick<EpochRow, "content">): Normal => (JSON.parse(row.content) as { normal: Normal }).normal;

/** Freezes what is normal now as the next epoch, and seals it in the admin log. */
export async function freezeBaseline(
  write: Write,
  tenantId: string,
  systemId: string,
  findingId: string | null,
): Promise<{ epoch: number; seal: string }> {
  const windows = await windowsOfSystem(write.trx, tenantId, systemId);
  const normal = normalOf(await observationsOf(write.trx, tenantId, systemId), windows);
  const now = write.now.getTime();
  const figures = normalFigures(await quietHours(write.trx, tenantId, systemId, now - LEARNED_FROM_MS, now, windows));
  const epoch = ((await newestEpoch(write.trx, tenantId, systemId))?.epoch ?? 0) + 1;
  const content = canonicalJson({ schema: BASELINE_SCHEMA, ai_system_id: systemId, epoch, normal, figures });
  const digest = sha256Hex(content);
  const id = uuid();
  await insertEpoch(write.trx, {
    ...{ id, tenant_id: tenantId, ai_system_id: systemId, epoch, digest, content },
    finding_id: findingId,
    created_by: write.actor.username,
    created_at: write.now,
  });
  const seal = sealRecord(write, {
    tenantId,
    system: systemAlone(systemId),
    action: "freeze",
    resource: "baseline-epochs",
    resource_id: id,
    context: { record_type: "ai.gw.baseline-epoch", epoch },
    references: [{ type: "ai.gw.baseline", digest_alg: "SHA-256", digest, purpose: "baseline_content" }],
  });
  return { epoch, seal };
}

/** Whether a system without a baseline has been observed long and often enough to get one. */
export async function hasLearned(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
  terms: LearningTerms,
  now: number,
): Promise<boolean> {
  const all = (await observationsOf(db, tenantId, systemId)).find(({ kind }) => kind === "call");
  if (all === undefined) return false;
  const days = (now - all.first_seen.getTime()) / 86_400_000;
  return (all.calls >= terms.calls && days >= terms.days) || (all.calls >= MIN_LEARNED_CALLS && days >= LEARNED_WITHIN_DAYS);
}

/** Costs are shown in dollars. */
const inUnits = (metric: Metric, value: number): number => (metric === "cost" ? value / 1_000_000 : value);

export async function readBaselines(
  { db, clock }: Directory,
  tenantId: string,
  systemId: string,
  terms: LearningTerms,
): Promise<Baselines> {
  await foundSystem(db, tenantId, systemId);
  const epoch = await newestEpoch(db, tenantId, systemId);
  const observations = await observationsOf(db, tenantId, systemId);
  const all = observations.find(({ kind }) => kind === "call");
  const now = clock.now();
  const hours = await quietHours(db, tenantId, systemId, now - SHOWN_MS, now, await windowsOfSystem(db, tenantId, systemId));
  const seen = (kind: SeenKind) =>
    observations
      .filter((one) => one.kind === kind)
      .slice(0, MAX_LISTED_PER_KIND)
      .map(({ subject, calls, first_seen, last_seen }) => ({
        subject,
        calls,
        first_seen: first_seen.toISOString(),
        last_seen: last_seen.toISOString(),
      }));
  return {
    ai_system_id: systemId,
    state: epoch === undefined ? "learning" : "active",
    epoch: epoch?.epoch ?? null,
    since: epoch?.created_at.toISOString() ?? null,
    learning: {
      began_at: all?.first_seen.toISOString() ?? null,
      calls: all?.calls ?? 0,
      needed_calls: terms.calls,
      needed_days: terms.days,
    },
    normal: epoch === undefined ? {} : normalIn(epoch),
    seen: Object.fromEntries(KINDS.map((kind) => [kind, seen(kind)])),
    figures: plotsOf(hours, (epoch === undefined ? null : figuresIn(epoch)) ?? {}).map(({ metric, normal, points }) => ({
      metric,
      normal: normal === null ? null : inUnits(metric, normal),
      points: points.map(({ at, value, calls }) => ({ at: new Date(at).toISOString(), value: inUnits(metric, value), calls })),
    })),
  };
}

export async function listBaselineEpochs({ db }: Directory, tenantId: string, systemId: string, page: Page): Promise<Paged<BaselineEpoch>> {
  await foundSystem(db, tenantId, systemId);
  const { items, total } = await epochPage(db, tenantId, systemId, page);
  return {
    total,
    items: items.map((row) => ({
      id: row.id,
      epoch: row.epoch,
      digest: row.digest,
      created_at: row.created_at.toISOString(),
      created_by: row.created_by,
      finding_id: row.finding_id,
      normal: normalIn(row),
    })),
  };
}

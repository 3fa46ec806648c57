import type { ReplayResult, ReplaySuite, ReplayTotals } from "@gatehouse/contracts/ai-replay";
import { sha256Hex } from "../../kernel/secrets.ts";
import { aiSystemStore } from "../../store/assurance/ai-systems.ts";
import { suiteById } from "../../store/assurance/replay-suites.ts";
import { callsById, claimReplayRun, otherReplaysWait, updateOpenRun } from "../../store/assurance/replay.ts";
import { type Actor, type Directory, write } from "../writes/write.ts";
import { closureOf, contractText } from "./closure.ts";
import { recordedRequest, type RecordedRequest } from "./recorded-request.ts";
import { sealReplayRun } from "./replay-runs.ts";
import { readSuite } from "./replay-suites.ts";

/** A run claimed by this process. */
export interface ReplayWork {
  readonly id: string;
  readonly tenant_id: string;
  readonly ai_system_id: string;
  /** Null if the suite was deleted. */
  readonly suite: ReplaySuite | null;
  /** Results of earlier turns, under `contract_digest`. */
  readonly soFar: ReplaySoFar;
  readonly contract_digest: string | null;
}

/** Results for the first cases of a suite, in its order. */
export interface ReplaySoFar {
  readonly results: readonly ReplayResult[];
  readonly models: string[];
  /** Null if part of it has no price. */
  readonly cost_micro_usd: number | null;
}

export interface ReplayEnd {
  readonly state: "passed" | "failed" | "errored";
  readonly error?: string;
  readonly totals?: ReplayTotals;
  readonly results?: readonly ReplayResult[];
  readonly models?: string[];
  readonly cost_micro_usd?: number | null;
}

const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
/** A run without a heartbeat for this long is taken over by another process. */
const SILENT_MS = 60_000;

/** Claims the next run; null if none is waiting. */
export async function claimReplayWork({ db, clock }: Directory): Promise<ReplayWork | null> {
  const now = clock.now();
  const claimed = await claimReplayRun(db, new Date(now), new Date(now - SILENT_MS));
  if (claimed === undefined) return null;
  const { id, tenant_id, ai_system_id, contract_digest, results, models } = claimed;
  const stored = await suiteById(db, tenant_id, claimed.suite_id);
  const soFar = { results, models, cost_micro_usd: results.length === 0 ? 0 : claimed.cost_micro_usd };
  return { id, tenant_id, ai_system_id, suite: stored === undefined ? null : readSuite(stored), soFar, contract_digest };
}

/** Whether another tenant's run is waiting for a turn. */
export function othersWaitForTurn({ db }: Directory, { tenant_id }: ReplayWork): Promise<boolean> {
  return otherReplaysWait(db, tenant_id);
}

/** Saves a run's progress until its next turn. Does nothing if the run was cancelled meanwhile. */
export async function setReplayAside(
  { db }: Directory,
  { id }: ReplayWork,
  { results, models, cost_micro_usd }: ReplaySoFar,
): Promise<void> {
  const patch = { results: JSON.stringify(results), models, cost_micro_usd };
  await updateOpenRun(db, id, { state: "queued", heard_of_at: new Date(), ...patch });
}

/** Digest of a contract minted from the current configuration; null if the system was deleted. */
export async function liveContractDigest(
  directory: Directory,
  { tenant_id: tenantId, ai_system_id: id }: ReplayWork,
): Promise<string | null> {
  const system = await aiSystemStore.find(directory.db, tenantId, id);
  return system === undefined ? null : sha256Hex(contractText(await closureOf(directory, system)));
}

/** Renews a run's heartbeat and records the contract digest it runs under. Returns false if the run was cancelled meanwhile. */
export function reportReplayRunning({ db }: Directory, { id }: ReplayWork, contractDigest: string | null): Promise<boolean> {
  return updateOpenRun(db, id, { contract_digest: contractDigest, heard_of_at: new Date() });
}

/** Does nothing if the run was cancelled meanwhile. */
export async function endReplayWork(directory: Directory, work: ReplayWork, { totals, results, ...end }: ReplayEnd): Promise<void> {
  await write(directory, GATEWAY, async (change) => {
    const patch = {
      ...end,
      ...(totals === undefined ? {} : { totals: JSON.stringify(totals) }),
      ...(results === undefined ? {} : { results: JSON.stringify(results) }),
    };
    const done = await updateOpenRun(change.trx, work.id, { ...patch, ended_at: change.now });
    if (!done) return change.stay({}, {}, null);
    sealReplayRun(change, work, { state: end.state, error: end.error ?? null });
  });
}

export interface ReplayRequest {
  /** SHA-256 of the stored request. */
  readonly digest: string;
  /** Null if it cannot be replayed. */
  readonly request: RecordedRequest | null;
}

/** The stored requests of the calls with these IDs, as far as they are still kept. */
export async function replayRequests(
  { db }: Directory,
  { tenant_id, ai_system_id }: ReplayWork,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReplayRequest>> {
  const rows = await callsById(db, tenant_id, ai_system_id, ids);
  return new Map(
    rows.flatMap((row): [string, ReplayRequest][] =>
      row.request_body_preview === null ? [] : [[row.id, { digest: sha256Hex(row.request_body_preview), request: recordedRequest(row) }]],
    ),
  );
}

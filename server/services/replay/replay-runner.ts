import type { ReplayCase, ReplayResult, ReplaySuite, ReplayTotals } from "@gatehouse/contracts/ai-replay";
import {
  claimReplayWork,
  endReplayWork,
  replayRequests,
  liveContractDigest,
  othersWaitForTurn,
  type ReplayEnd,
  type ReplaySoFar,
  type ReplayWork,
  setReplayAside,
  reportReplayRunning,
} from "../../directory/assurance/replay-work.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { reasonOf } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { replayCase, type ReplayCaseParts } from "./replay-case.ts";

export interface ReplayRunnerParts extends ReplayCaseParts {
  readonly directory: Directory;
  readonly snapshots: Pick<Snapshots, "scope">;
  /** Resolves when what was written to the directory is in force in this process. */
  readonly caughtUp: () => Promise<void>;
  readonly log: Log;
}

/** Cases in parallel: replays are not urgent and share their limits with callers. Also the length of a turn if another tenant waits. */
const AT_ONCE = 4;
const HEARTBEAT_MS = 5_000;
/** The configuration changed before all cases were replayed. */
const CHANGED: ReplayEnd = { state: "errored", error: "the configuration changed while it ran" };

/** Runs requested replays, one at a time in each process with the runtime role. Tenants take turns. */
export class ReplayRunner {
  private stopped = false;
  private readonly parts: ReplayRunnerParts;

  constructor(parts: ReplayRunnerParts) {
    this.parts = parts;
  }

  /** Starts no further call; another process takes over the current replay, or this one after its next start. */
  stop(): void {
    this.stopped = true;
  }

  async run(): Promise<void> {
    const { directory, log } = this.parts;
    while (!this.stopped) {
      const work = await claimReplayWork(directory);
      if (work === null) return;
      try {
        await this.carriedOn(work);
      } catch (error) {
        log.warn("replay_failed", { run_id: work.id, error: error as Error });
        await endReplayWork(directory, work, { state: "errored", error: reasonOf(error) ?? "it could not be carried out" });
      }
    }
  }

  /** Until the replay ends or it is another tenant's turn. */
  private async carriedOn(work: ReplayWork): Promise<void> {
    const { directory, snapshots, caughtUp } = this.parts;
    await caughtUp();
    const scope = await snapshots.scope(work.tenant_id, work.ai_system_id);
    const { suite } = work;
    if (suite === null || scope === null)
      return endReplayWork(directory, work, { state: "errored", error: "the AI System or its suite is gone" });
    const digest = await liveContractDigest(directory, work);
    if (work.soFar.results.length > 0 && work.contract_digest !== digest) return endReplayWork(directory, work, CHANGED);
    if (!(await reportReplayRunning(directory, work, digest))) return;
    const recorded = this.recordedFor(work, digest);
    try {
      const found = await this.replayed(work, suite, scope, recorded.goesOn);
      if (!recorded.goesOn()) return;
      if ((await liveContractDigest(directory, work)) !== digest) return await endReplayWork(directory, work, CHANGED);
      if (found.results.length < suite.cases.length) return await setReplayAside(directory, work, found);
      const totals = totalsOf(suite.cases, found.results);
      const passed = totals.failed + totals.flaky + totals.errors + totals.skipped === 0;
      await endReplayWork(directory, work, { state: passed ? "passed" : "failed", totals, ...found });
    } finally {
      recorded.end();
    }
  }

  /** Renews the run's lease at an interval, and learns whether the run was cancelled. */
  private recordedFor(work: ReplayWork, digest: string | null) {
    let cancelled = false;
    const timer = setInterval(() => {
      void reportReplayRunning(this.parts.directory, work, digest)
        .then((open) => {
          cancelled ||= !open;
        })
        .catch(() => undefined);
    }, HEARTBEAT_MS);
    return { goesOn: () => !cancelled && !this.stopped, end: () => clearInterval(timer) };
  }

  private async replayed(
    work: ReplayWork,
    { cases, repeats }: ReplaySuite,
    scope: GroupScope,
    goesOn: () => boolean,
  ): Promise<ReplaySoFar> {
    const { directory } = this.parts;
    const results = [...work.soFar.results];
    const models = new Set(work.soFar.models);
    let micros = work.soFar.cost_micro_usd;
    while (results.length < cases.length && goesOn()) {
      const some = cases.slice(results.length, results.length + AT_ONCE);
      const ids = some.map((one) => one.row_id);
      const kept = await replayRequests(directory, work, ids);
      const run = { id: work.id, scope, goesOn };
      const done = await Promise.all(some.map((one) => replayCase(one, kept.get(one.row_id) ?? null, repeats, run, this.parts)));
      for (const { result, models: answered, micros: cost } of done) {
        results.push(result);
        for (const model of answered) models.add(model);
        micros = micros === null || cost === null ? null : micros + cost;
      }
      if (await othersWaitForTurn(directory, work)) break;
    }
    return { results, models: [...models].sort(), cost_micro_usd: micros };
  }
}

function totalsOf(cases: readonly ReplayCase[], results: readonly ReplayResult[]): ReplayTotals {
  const must = new Set(cases.filter((one) => one.must).map(({ id }) => id));
  const of = (state: ReplayResult["state"]) => results.filter((one) => one.state === state);
  return {
    cases: cases.length,
    passed: of("pass").length,
    failed: of("fail").length,
    flaky: of("flaky").length,
    errors: of("error").length,
    skipped: of("skipped").length,
    must_failed: [...of("fail"), ...of("flaky")].filter((one) => must.has(one.case_id)).length,
    must_skipped: of("skipped").filter((one) => must.has(one.case_id)).length,
  };
}

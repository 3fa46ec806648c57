import type { Files } from "../directory/files/stored-files.ts";
import type { Snapshots } from "../directory/snapshots.ts";
import { KnownModels } from "../directory/models/known-models.ts";
import { VideoStore } from "../directory/videos/video-store.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Job } from "../kernel/scheduling/job.ts";
import type { Log } from "../kernel/log.ts";
import type { JobBudgets } from "../road/call-limits.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { BackgroundCalls } from "../road/own-calls/background-calls.ts";
import type { OpenCalls } from "../road/open-calls.ts";
import type { ProvidersOfVideos } from "../services/videos/read-provider-job.ts";
import { VideoRunner } from "../services/videos/video-runner.ts";
import { VideoService } from "../services/videos/video-service.ts";
import type { DatabaseConnection } from "../store/database.ts";

const POLL_INTERVAL_MS = 500;
const SWEEP_INTERVAL_MS = 600_000;

interface VideoParts {
  readonly background: BackgroundCalls;
  readonly connection: Pick<DatabaseConnection, "db">;
  readonly calls: OpenCalls;
  readonly budgets: JobBudgets;
  readonly providers: ProvidersOfVideos;
  readonly files: Files;
  readonly snapshots: Snapshots;
  readonly ledger: Pick<Ledger, "chainId">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Video jobs: the service callers use, and the runner of this process. */
export function openVideos(parts: VideoParts) {
  const { background, connection, calls, budgets, providers, files, snapshots, ledger, clock, log } = parts;
  const store = new VideoStore(connection.db);
  const tenant = (id: string) => snapshots.tenant(id);
  const models = new KnownModels(tenant);
  const now = () => clock.now();
  const runner = new VideoRunner({
    ...{ store, files, calls: background, budgets, providers, models, tenant, now, log },
    scope: (tenantId, groupId) => snapshots.scope(tenantId, groupId),
    recording: () => calls.accepting,
    chain: ledger.chainId,
    random: Math.random,
  });
  const jobs: Job[] = [
    { name: "run_videos", everyMs: POLL_INTERVAL_MS, run: () => runner.poll() },
    {
      name: "forget_videos",
      everyMs: SWEEP_INTERVAL_MS,
      run: async () => {
        await store.sweep();
        // Budgets may still be held for jobs that other processes ended, when no row is left that would trigger a look.
        await runner.poll();
      },
    },
  ];
  return {
    videos: new VideoService({ store, runner, providers, models, begin: (call) => calls.begin(call), now }),
    jobs,
    /** Holds budgets again for the jobs this process had when it died. */
    takeOver: () => runner.takeOver().catch((error: Error) => log.warn("videos_not_taken_over", { error })),
    /** Leaves unfinished jobs to other processes. The calls that submit jobs must have ended. */
    stop: () => runner.stop(),
  };
}

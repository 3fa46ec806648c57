import { BatchStore } from "../directory/batch/batch-store.ts";
import type { Files } from "../directory/files/stored-files.ts";
import type { Snapshots } from "../directory/snapshots.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Job } from "../kernel/scheduling/job.ts";
import type { Log } from "../kernel/log.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { BackgroundCalls } from "../road/own-calls/background-calls.ts";
import type { OpenCalls } from "../road/open-calls.ts";
import { BatchRunner } from "../services/batch/batch-runner.ts";
import { BatchService } from "../services/batch/batch-service.ts";
import { KnownModels } from "../directory/models/known-models.ts";
import { lineCalls } from "../services/batch/line-calls.ts";
import { jobEnder } from "../services/batch/end-job.ts";
import { modeAmong } from "../services/batch/mode.ts";
import { ProviderRuns, type ProviderRunsParts } from "../services/batch/provider-runs.ts";
import { FileRoom } from "../road/request/file-room.ts";
import { FilesInMessages } from "../services/files/in-messages.ts";
import type { Dispatch } from "../services/models/dispatch.ts";
import type { DatabaseConnection } from "../store/database.ts";
import { withFiles } from "../surfaces/files/with-files.ts";
import { chatCompletions } from "../surfaces/llm/chat-completions.ts";
import { completions } from "../surfaces/llm/completions.ts";
import { embeddings } from "../surfaces/llm/embeddings.ts";
import { messages } from "../surfaces/messages/messages.ts";
import { moderations } from "../surfaces/llm/moderations.ts";
import type { ResponseServices } from "../surfaces/llm/response-services.ts";
import { responses } from "../surfaces/llm/responses.ts";

const POLL_INTERVAL_MS = 1_000;
const SWEEP_INTERVAL_MS = 600_000;

interface BatchParts {
  readonly background: BackgroundCalls;
  readonly snapshots: Snapshots;
  readonly connection: Pick<DatabaseConnection, "db">;
  readonly calls: OpenCalls;
  readonly models: Dispatch;
  readonly items: ResponseServices["items"];
  readonly responses: ResponseServices["responses"];
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  readonly ledger: Pick<Ledger, "chainId" | "shipped">;
  readonly upstream: { readonly batches: ProviderRunsParts["batches"] };
}

/** Batch jobs: the service callers use, and the workers that run them in this process. */
export function openBatches(parts: BatchParts) {
  const { background, connection, calls, models, items, responses: stored, files, clock, log, snapshots, ledger, upstream } = parts;
  const store = new BatchStore(connection.db);
  const { batches } = upstream;
  const inMessages = new FilesInMessages(files, new FileRoom());
  const tenant = (id: string) => snapshots.tenant(id);
  const known = new KnownModels(tenant);
  const written = { chain: ledger.chainId, shipped: () => ledger.shipped() };
  const lines = lineCalls({
    ...{ calls: background, store, models: known },
    surfaces: {
      "/v1/chat/completions": withFiles(inMessages, chatCompletions(models)),
      "/v1/responses": withFiles(inMessages, responses({ models, items, responses: stored })),
      "/v1/completions": completions(models),
      "/v1/messages": withFiles(inMessages, messages(models)),
      "/v1/embeddings": embeddings(models),
      "/v1/moderations": moderations(models),
    },
  });
  const providerRuns = new ProviderRuns({
    ...{ store, batches, models: known, log },
    ...written,
    finishLine: lines.finish,
    jobFailure: lines.jobFailure,
    release: (away) => calls.release(away),
    now: () => clock.now(),
  });
  const runner = new BatchRunner({
    ...{ store, log, chain: ledger.chainId, runLine: lines.run, leftFrom: providerRuns.id },
    end: jobEnder({ ...{ store, files, calls: background, tenant }, ...written, now: () => new Date(clock.now()) }),
    lastWaitedFor: () => calls.lastWaitedFor,
  });
  const jobs: Job[] = [
    { name: "run_batches", everyMs: POLL_INTERVAL_MS, run: () => runner.poll() },
    { name: "run_provider_batches", everyMs: POLL_INTERVAL_MS, run: () => providerRuns.poll() },
    // A separate job, because the others may take long and stop before the process does.
    { name: "keep_batch_lines", everyMs: POLL_INTERVAL_MS, run: () => Promise.all([runner.stayAlive(), providerRuns.stayAlive()]) },
    { name: "forget_batches", everyMs: SWEEP_INTERVAL_MS, run: () => store.sweep() },
  ];
  return {
    batches: new BatchService({ store, now: () => clock.now(), wake: () => runner.wake(), modeFor: modeAmong(batches) }),
    jobs,
    /** Lets lines and jobs that this process had when it died continue at once. */
    takeOver: () =>
      store.releaseClaims([runner.id, providerRuns.id]).catch((error: Error) => log.warn("batches_not_taken_over", { error })),
    /** Starts no more lines; lines in progress drain like other calls. */
    stop() {
      runner.stop();
      providerRuns.stop();
    },
    settled: () => Promise.all([runner.settled(), providerRuns.settled()]),
  };
}

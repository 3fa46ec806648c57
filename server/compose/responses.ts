import { ResponseStore } from "../directory/responses/response-store.ts";
import type { Snapshots } from "../directory/snapshots.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Job } from "../kernel/scheduling/job.ts";
import type { Log } from "../kernel/log.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { JobBudgets } from "../road/call-limits.ts";
import type { BackgroundCalls } from "../road/own-calls/background-calls.ts";
import type { OpenCalls } from "../road/open-calls.ts";
import type { AttemptParts } from "../services/models/routing/attempt.ts";
import { ResponseMeter } from "../services/models/responses/response-meter.ts";
import { ResponseRecords } from "../services/models/responses/response-records.ts";
import { StoredResponses } from "../services/models/responses/stored-responses.ts";
import type { DatabaseConnection } from "../store/database.ts";

const POLL_INTERVAL_MS = 500;
const RECORDED_MS = 1_000;
const SWEEP_INTERVAL_MS = 600_000;

interface ResponsesParts {
  readonly background: BackgroundCalls;
  readonly connection: Pick<DatabaseConnection, "db">;
  readonly calls: OpenCalls;
  readonly budgets: JobBudgets;
  readonly providers: AttemptParts["providers"];
  readonly snapshots: Snapshots;
  readonly ledger: Pick<Ledger, "chainId">;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
}

/** Responses stored at providers: the service callers use, and the metering of background responses. */
export function openStoredResponses(parts: ResponsesParts) {
  const { background, connection, calls, budgets, providers, snapshots, ledger, clock, log, timeoutMs } = parts;
  const store = new ResponseStore(connection.db);
  const now = () => clock.now();
  const records = new ResponseRecords({ store, now, log });
  const meter = new ResponseMeter({
    ...{ store, calls: background, budgets, providers, now, log },
    recording: () => calls.accepting,
    tenant: (id) => snapshots.tenant(id),
    scope: (tenantId, groupId) => snapshots.scope(tenantId, groupId),
    chain: ledger.chainId,
  });
  const jobs: Job[] = [
    { name: "meter_responses", everyMs: POLL_INTERVAL_MS, run: () => meter.poll() },
    { name: "record_responses", everyMs: RECORDED_MS, run: () => records.writeLate() },
    { name: "forget_responses", everyMs: SWEEP_INTERVAL_MS, run: () => store.sweep() },
  ];
  return {
    responses: new StoredResponses({ ...{ store, records, meter, providers, clock, timeoutMs, now }, begin: (call) => calls.begin(call) }),
    jobs,
    takeOver: () => meter.takeOver().catch((error: Error) => log.warn("responses_not_taken_over", { error })),
    stop: () => meter.stop(),
    flush: () => records.flush(),
  };
}

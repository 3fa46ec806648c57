import { afterAll, beforeAll, expect, test } from "bun:test";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { until } from "../../tests/support/until.ts";
import { jsonLog } from "../kernel/log.ts";
import { telemetry } from "../kernel/telemetry/telemetry.ts";
import { waitingWork, type WorkKind } from "../store/records/waiting-work.ts";
import { WorkPoller, runJobs } from "./work-poller.ts";

let database: TestDatabase;
let nothing: Readonly<Record<WorkKind, boolean>>;
beforeAll(async () => {
  database = await testDatabase();
  nothing = await waitingWork(database.db);
});
afterAll(() => database.close());

const untilTrue = (what: () => boolean) => until(async () => what(), Boolean);

/** A poller with the given waiting work, and a record of its queries and log lines. */
function pollerWith(waiting: () => Partial<Record<WorkKind, boolean>>) {
  const lines: string[] = [];
  const seen = { asked: 0, lines };
  const ask = async () => {
    seen.asked++;
    return { ...nothing, ...waiting() };
  };
  const log = jsonLog("debug", (line) => lines.push(line));
  return { seen, workPoller: new WorkPoller(ask, { log, metrics: telemetry() }) };
}

test("waiting work is reported only if something is due", async () => {
  expect(new Set(Object.values(nothing))).toEqual(new Set([false]));
  const due = (key: string, at: number) =>
    database.db
      .insertInto("blobs_to_remove")
      .values({ key, due_at: new Date(at) })
      .execute();
  await due("later", Date.now() + 3_600_000);
  expect(await waitingWork(database.db)).toEqual(nothing);
  await due("now", Date.now() - 1_000);
  expect(await waitingWork(database.db)).toEqual({ ...nothing, remove_file_bytes: true });
});

test("one query finds waiting work for all jobs, and only those with work run", async () => {
  const { seen, workPoller } = pollerWith(() => ({ run_videos: true }));
  const ran: string[] = [];
  const job = (name: string) => ({ name, everyMs: 1, run: async () => ran.push(name) });
  const workers = runJobs(["run_videos", "run_batches", "watch_drift"].map(job), workPoller);
  await untilTrue(() => ran.length >= 2);
  await workers.stop();
  expect(new Set(ran)).toEqual(new Set(["run_videos"]));
  expect(seen.asked).toBeLessThanOrEqual(ran.length + 1);
});

test("a job keeps running for a while after its work is no longer reported", async () => {
  let asked = 0;
  const { workPoller } = pollerWith(() => ({ run_videos: asked++ === 0 }));
  let ran = 0;
  const workers = runJobs([{ name: "run_videos", everyMs: 1, run: async () => ran++ }], workPoller);
  await untilTrue(() => asked >= 3 && ran >= 3);
  await workers.stop();
});

test("a failed run is logged and repeated, and stopping waits for the current run", async () => {
  const { seen, workPoller } = pollerWith(() => ({ run_videos: true }));
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  const run = async () => {
    if (++runs === 1) throw new Error("not this time");
    await gate.promise;
  };
  const workers = runJobs([{ name: "run_videos", everyMs: 1, run }], workPoller);
  await untilTrue(() => runs === 2);
  expect(seen.lines.map((line) => JSON.parse(line))).toMatchObject([{ event: "worker_failed", worker: "run_videos" }]);
  let stopped = false;
  const stopping = workers.stop().then(() => (stopped = true));
  await Promise.resolve();
  expect(stopped).toBe(false);
  gate.resolve();
  await stopping;
});

test("if the database does not answer, no job runs and the log says so once", async () => {
  const { seen, workPoller } = pollerWith(() => {
    throw new Error("away");
  });
  const workers = runJobs([{ name: "run_videos", everyMs: 1, run: () => Promise.reject(new Error("it ran")) }], workPoller);
  await untilTrue(() => seen.asked > 2);
  await workers.stop();
  expect(seen.lines.map((line) => JSON.parse(line).worker)).toEqual(["poll_for_work"]);
});

import { expect, spyOn, test } from "bun:test";
import { until } from "../../../tests/support/until.ts";
import { isUuid } from "../../kernel/ids.ts";
import { jsonLog } from "../../kernel/log.ts";
import { BatchRunner, type RunnerParts } from "./batch-runner.ts";
import { runnerId } from "./runner-id.ts";

const job = (id: string, more: object = {}) => ({
  ...{ id, tenant_id: "t", mode: "gateway", status: "in_progress", paused: false, was_paused: false },
  ...more,
});
const line = { line: 1, custom_id: "a", body: "{}", attempt: 1 };

/** A runner over a store that contains only what is given here. */
function runnerOver(given: object, runLine: () => Promise<null> = () => new Promise(() => {}), end: () => Promise<void> = async () => {}) {
  const nothing = {
    endInterrupted: async () => {},
    takeEnding: async () => undefined,
    keepAlive: async () => {},
    returnLine: async () => {},
  };
  const store = { ...nothing, read: async (id: string) => ({ id }), takeLines: async () => [], ...given };
  return new BatchRunner({
    ...{ store: store as unknown as RunnerParts["store"], runLine, end, log: jsonLog("error") },
    ...{ chain: "c", leftFrom: "x", lastWaitedFor: () => Number.NEGATIVE_INFINITY },
  });
}

test("a stopping process reports itself alive until the lines it started have ended", async () => {
  const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()];
  const left = [line];
  let beats = 0;
  const runner = runnerOver(
    { active: async () => [job("j")], keepAlive: async () => void beats++, pause: async () => {}, takeLines: async () => left.splice(0) },
    () => {
      begun.resolve();
      return answered.promise;
    },
  );
  await runner.poll();
  await begun.promise;
  runner.stop();
  const begunWith = beats;
  const clock = spyOn(performance, "now");
  const now = performance.now();
  for (let seconds = 1; seconds <= 30; seconds++) {
    clock.mockReturnValue(now + seconds * 1_000);
    await runner.stayAlive();
  }
  const draining = beats;
  expect(draining - begunWith).toBeGreaterThan(30 / 15);
  answered.resolve(null);
  await runner.settled();
  clock.mockReturnValue(now + 60_000);
  await runner.stayAlive();
  expect(beats).toBe(draining);
  clock.mockRestore();
});

test("a job whose results take long to write is kept until they are written", async () => {
  const [begun, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const toEnd = [job("j")];
  const kept: string[] = [];
  const runner = runnerOver(
    {
      active: async () => [job("j", { status: "finalizing" })],
      takeEnding: async () => toEnd.pop(),
      keepEndings: async (_: string, ids: readonly string[]) => void kept.push(...ids),
    },
    undefined,
    () => (begun.resolve(), written.promise),
  );
  const polled = runner.poll();
  await begun.promise;
  await runner.stayAlive();
  expect(kept).toEqual(["j"]);
  written.resolve();
  await polled;
  await runner.stayAlive();
  expect(kept).toEqual(["j"]);
  await runner.settled();
});

test("choosing the next job takes time linear in the number of jobs", async () => {
  let reads = 0;
  const jobs = Array.from({ length: 300 }, (_, i) => ({
    ...job(`j${i}`, { tenant_id: `t${i % 10}` }),
    get status() {
      reads++;
      return "in_progress";
    },
  }));
  const chosen = Promise.withResolvers<number>();
  const runner = runnerOver({
    active: async () => jobs,
    async read() {
      chosen.resolve(reads);
      runner.stop();
      return undefined;
    },
  });
  await runner.poll();
  expect(await chosen.promise).toBeLessThan(10 * jobs.length);
});

test("lines whose response was lost are returned, even if their job is no longer to run", async () => {
  const taken = Promise.withResolvers<void>();
  const returned = Promise.withResolvers<readonly string[]>();
  let status = "in_progress";
  const runner = runnerOver({
    active: async () => [job("j", { status })],
    async takeLines() {
      status = "cancelling";
      taken.resolve();
      throw new Error("the connection was lost");
    },
    async returnUnbegun(_: string, begun: readonly string[]) {
      returned.resolve(begun);
    },
  });
  await runner.poll();
  await taken.promise;
  await until(
    () => runner.poll(),
    () => Bun.peek.status(returned.promise) === "fulfilled",
  );
  expect(await returned.promise).toEqual([]);
  await runner.settled();
});

test("the IDs of runners differ, and begin alike if and only if they are of one chain", () => {
  const [one, again, other] = [runnerId("a"), runnerId("a"), runnerId("b")];
  expect([one, again, other].every(isUuid)).toBe(true);
  expect(one).not.toBe(again);
  expect(again.slice(0, 18)).toBe(one.slice(0, 18));
  expect(other.slice(0, 18)).not.toBe(one.slice(0, 18));
});

import { expect, test } from "bun:test";
import { jsonLog } from "../kernel/log.ts";
import { telemetry } from "../kernel/telemetry/telemetry.ts";
import { loggingFailures } from "./logged-failures.ts";

test("a job that keeps failing is logged at first, then once a minute, and when it recovers", async () => {
  const lines: { event: string; failures?: number }[] = [];
  let [now, away] = [0, true];
  const metrics = telemetry();
  const run = loggingFailures(
    "sync",
    async () => {
      if (away) throw new Error("the database is away");
    },
    { log: jsonLog("info", (line) => lines.push(JSON.parse(line))), metrics },
    () => now,
  );
  for (; now < 150_000; now += 1_000) await run();
  expect(await metrics.render()).toContain('gatehouse_worker_failing{worker="sync"} 1');
  away = false;
  await run();
  await run();
  expect(await metrics.render()).toContain('gatehouse_worker_failing{worker="sync"} 0');
  expect(lines.map(({ event, failures }) => [event, failures])).toEqual([
    ["worker_failed", undefined],
    ["worker_failed", 60],
    ["worker_failed", 60],
    ["worker_recovered", undefined],
  ]);
  expect(lines[0]).toMatchObject({ worker: "sync", error: expect.anything() });
});

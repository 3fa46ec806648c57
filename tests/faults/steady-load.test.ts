import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Served, serveModels } from "../support/worlds/admin.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../support/patience.ts";
import { startWorld, type World } from "../support/world.ts";

/**
 * Steady mixed load: memory, file handles and the journal stay flat. STEADY_LOAD_SECONDS sets the duration, up to two hours (7200);
 * whatever grows with each call already shows within 20 seconds.
 */
const SECONDS = Number(process.env.STEADY_LOAD_SECONDS ?? 20);
const CALLERS = 4;
const READINGS = 30;
/** From one third of the run to the next. */
const MAX_GROWTH_MIB = 48;
const MIB = 1024 * 1024;
/** At most one segment being written and one being shipped; a full segment is deleted once its rows are in the database. */
const JOURNAL_MIB = 2 * 64 + 8;

let world: World;
let served: Served;

beforeAll(async () => {
  world = await startWorld({ GW_LOG_LEVEL: "error" });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "broken"]);
});
afterAll(() => world.end());

interface Reading {
  readonly calls: number;
  readonly memory: number;
  readonly handles: number;
  readonly journal: number;
}

const metric = async (name: string): Promise<number> =>
  Number(
    (await (await fetch(`${world.gateway.adminUrl}/metrics`)).text())
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")[1],
  );

async function reading(calls: number): Promise<Reading> {
  const journal = join(world.gateway.dataDir, "journal");
  const bytes = readdirSync(journal).reduce((sum, name) => sum + (statSync(join(journal, name), { throwIfNoEntry: false })?.size ?? 0), 0);
  return {
    calls,
    memory: (await metric("gatehouse_resident_memory_bytes")) / MIB,
    handles: readdirSync(`/proc/${world.gateway.pid()}/fd`).length,
    journal: bytes / MIB,
  };
}

async function call(n: number): Promise<number> {
  const kind = n % 4;
  const body = {
    model: kind === 3 ? "not-there" : kind === 2 && n % 40 === 2 ? "broken" : "fake-1",
    stream: kind === 1,
    messages: [{ role: "user", content: `${n} ${"word ".repeat(n % 200)}` }],
  };
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey, "x-gw-run-id": `run ${n % 500}` },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

test(
  `${SECONDS} s of steady load: memory, file handles and journal stay flat`,
  async () => {
    const statuses = new Map<number, number>();
    let calls = 0;
    let over = false;
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!over) {
        const status = await call(calls++);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    const third = READINGS / 3;
    const all: Reading[] = [];
    const started = performance.now();
    const thirdOfReadings = async (): Promise<Reading[]> => {
      for (let i = 0; i < third; i++) {
        while (performance.now() - started < ((all.length + 1) / READINGS) * SECONDS * 1000)
          await new Promise((resolve) => setTimeout(resolve, 20));
        all.push(await reading(calls));
      }
      return all.slice(-third);
    };
    const of = (list: readonly Reading[], what: keyof Reading) => list.map((one) => one[what]);
    const growth = () => median(of(last, "memory")) - median(of(middle, "memory"));

    // The first third is warm-up, in which the process grows until it has done everything once.
    await thirdOfReadings();
    let middle = await thirdOfReadings();
    let last = await thirdOfReadings();
    // The collector may let memory step up once or twice; a real leak keeps growing.
    for (let more = 0; more < 3 && growth() >= MAX_GROWTH_MIB; more++) [middle, last] = [last, await thirdOfReadings()];
    over = true;
    await Promise.all(callers);

    console.log(
      `  ${Math.round((performance.now() - started) / 1000)} s, ${calls} calls: memory ${Math.round(median(of(middle, "memory")))} to ${Math.round(median(of(last, "memory")))} MiB, handles ${Math.max(...of(middle, "handles"))} to ${Math.max(...of(last, "handles"))}, journal at most ${Math.ceil(Math.max(...of(all, "journal")))} MiB`,
    );
    expect([...statuses.keys()].toSorted()).toEqual([200, 404, 502]);
    expect(growth()).toBeLessThan(MAX_GROWTH_MIB);
    expect(Math.max(...of(last, "handles")) - Math.max(...of(middle, "handles"))).toBeLessThan(16);
    expect(Math.max(...of(all, "journal"))).toBeLessThan(JOURNAL_MIB);
    const deadline = Date.now() + PATIENCE_MS;
    while ((await metric("gatehouse_ledger_unshipped_rows")) > 0)
      if (Date.now() > deadline) throw new Error("rows do not reach the database");
    expect(await metric("gatehouse_ledger_open_calls")).toBe(0);
  },
  LONG_TEST_MS + 2 * SECONDS * 1000,
);

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Served, serveModels } from "../support/admin.ts";
import { startWorld, type World } from "../support/world.ts";

/**
 * Steady mixed load: memory, file handles and the journal stay flat. STEADY_LOAD_SECONDS makes it as long as two hours
 * (7200); what grows with every call shows in half a minute already.
 */
const SECONDS = Number(process.env.STEADY_LOAD_SECONDS ?? 30);
const CALLERS = 4;
const READINGS = 30;
const MIB = 1024 * 1024;
/** One segment being written and one being shipped, at most; a full one is given up once its rows are in the database. */
const JOURNAL_MIB = 2 * 64 + 8;

let world: World;
let served: Served;

beforeAll(async () => {
  world = await startWorld({ GW_LOG_LEVEL: "error" });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "broken"]);
}, 30_000);
afterAll(() => world.end());

interface Reading {
  readonly calls: number;
  readonly memory: number;
  readonly handles: number;
  readonly journal: number;
}

const metric = async (name: string): Promise<number> => Number((await (await fetch(`${world.gateway.adminUrl}/metrics`)).text()).split("\n").find((line) => line.startsWith(`${name} `))?.split(" ")[1]);

async function reading(calls: number): Promise<Reading> {
  const journal = join(world.gateway.dataDir, "journal");
  const bytes = readdirSync(journal).reduce((sum, name) => sum + (statSync(join(journal, name), { throwIfNoEntry: false })?.size ?? 0), 0);
  return { calls, memory: (await metric("gatehouse_resident_memory_bytes")) / MIB, handles: readdirSync(`/proc/${world.gateway.pid()}/fd`).length, journal: bytes / MIB };
}

async function call(n: number): Promise<number> {
  const kind = n % 4;
  const body = { model: kind === 3 ? "not-there" : kind === 2 && n % 40 === 2 ? "broken" : "fake-1", stream: kind === 1, messages: [{ role: "user", content: `${n} ${"word ".repeat(n % 200)}` }] };
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, { method: "POST", headers: { "content-type": "application/json", "x-api-key": served.apiKey, "x-gw-run-id": `run ${n % 500}` }, body: JSON.stringify(body) });
  await response.arrayBuffer();
  return response.status;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

test(`${SECONDS} s of steady load: memory, file handles and journal stay flat`, async () => {
  const statuses = new Map<number, number>();
  let calls = 0;
  let over = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!over) {
      const status = await call(calls++);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  const readings: Reading[] = [];
  const started = performance.now();
  for (let i = 1; i <= READINGS; i++) {
    while (performance.now() - started < (i / READINGS) * SECONDS * 1000) await new Promise((resolve) => setTimeout(resolve, 20));
    readings.push(await reading(calls));
  }
  over = true;
  await Promise.all(callers);

  const third = READINGS / 3;
  // The first third is what a process grows by until it has seen everything once.
  const [middle, last] = [readings.slice(third, 2 * third), readings.slice(2 * third)];
  const of = (list: readonly Reading[], what: keyof Reading) => list.map((one) => one[what]);
  console.log(`  ${SECONDS} s, ${calls} calls: memory ${Math.round(median(of(middle, "memory")))} to ${Math.round(median(of(last, "memory")))} MiB, handles ${Math.max(...of(middle, "handles"))} to ${Math.max(...of(last, "handles"))}, journal at most ${Math.ceil(Math.max(...of(readings, "journal")))} MiB`);
  expect([...statuses.keys()].toSorted()).toEqual([200, 404, 502]);
  expect(median(of(last, "memory")) - median(of(middle, "memory"))).toBeLessThan(48);
  expect(Math.max(...of(last, "handles")) - Math.max(...of(middle, "handles"))).toBeLessThan(16);
  expect(Math.max(...of(readings, "journal"))).toBeLessThan(JOURNAL_MIB);
  const deadline = Date.now() + 60_000;
  while ((await metric("gatehouse_ledger_unshipped_rows")) > 0) if (Date.now() > deadline) throw new Error("rows do not reach the database");
  expect(await metric("gatehouse_ledger_open_calls")).toBe(0);
}, (SECONDS + 120) * 1000);

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { findHome } from "../../server/store/embedded/home.ts";
import { type AdminClient, type Served, serveModels, signIn } from "../support/worlds/admin.ts";
import { type FakeUpstream, startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { type LastingProcess, startLasting } from "../support/processes/lasting-process.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../support/patience.ts";

/**
 * PostgreSQL itself freezes under load (its processes stopped, its connections open and silent), or is killed and recovers.
 * DATABASE_STOPPED_SECONDS is the longer of the two freezes: 10 by default, 300 for five minutes.
 */
const LONG_SECONDS = Number(process.env.DATABASE_STOPPED_SECONDS ?? 10);
const CALLERS = 4;
/** Pause between two calls of a caller. The length of the freeze matters here, not the number of waiting rows. */
const PAUSE_MS = 10;

const POSTGRES = fileURLToPath(new URL("../support/processes/postgres-process.ts", import.meta.url));

let path: string;
let postgres: LastingProcess;
let databaseUrl: string;
let upstream: FakeUpstream;
let gateway: GatewayProcess;
let admin: AdminClient;
let served: Served;

beforeAll(async () => {
  path = await temporaryDirectory();
  const ready = Promise.withResolvers<string>();
  postgres = await startLasting([process.execPath, POSTGRES, path], {
    onLine: (line, error) => (error ? console.error(line) : ready.resolve(line)),
  });
  void postgres.exited.then((code) => ready.reject(new Error(`PostgreSQL ended with ${code}`)));
  databaseUrl = await ready.promise;
  upstream = startFakeUpstream();
  gateway = await startGateway({ databaseUrl, env: { GW_LOG_LEVEL: "error" } });
  admin = await signIn(gateway.adminUrl);
  served = await serveModels(admin, upstream.baseUrl, ["fake-1"]);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  const { path: home } = findHome(path);
  postgres?.kill("SIGTERM");
  await postgres?.exited;
  await removeDirectory(home);
  await removeDirectory(path);
  if (gateway !== undefined) await removeDirectory(gateway.dataDir);
});

/** The server's PID and those of its children, the server first. */
function processes(): number[] {
  const postmaster = Number(readFileSync(join(findHome(path).cluster, "postmaster.pid"), "utf8").split("\n")[0]);
  const children = readdirSync("/proc").filter((entry) => {
    try {
      const stat = /^\d+$/.test(entry) ? readFileSync(`/proc/${entry}/stat`, "utf8") : "";
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === postmaster;
    } catch {
      return false;
    }
  });
  return [postmaster, ...children.map(Number)];
}

const metric = async (name: string): Promise<number> =>
  Number(
    (await (await fetch(`${gateway.adminUrl}/metrics`)).text())
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")[1],
  );
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let calls = 0;

interface Load {
  readonly answered: string[];
  readonly failed: unknown[];
  reached(more: number): Promise<void>;
  end(): Promise<void>;
}

function load(): Load {
  const answered: string[] = [];
  const failed: unknown[] = [];
  let over = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!over) {
      const id = `call-${++calls}`;
      const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": served.apiKey, "x-correlation-id": id },
        body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: id }] }),
      });
      const text = await response.text();
      if (response.status === 200) answered.push(id);
      else failed.push([response.status, text]);
      await pause(PAUSE_MS);
    }
  });
  return {
    answered,
    failed,
    async reached(more) {
      const goal = answered.length + failed.length + more;
      while (answered.length + failed.length < goal) await pause(5);
    },
    async end() {
      over = true;
      await Promise.all(callers);
    },
  };
}

/** Everything that was answered has one row, no call has two, and the chain is intact. */
async function accountFor({ answered, failed }: Load): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while ((await metric("gatehouse_ledger_unshipped_rows")) > 0) {
    if (Date.now() > deadline) throw new Error(`rows do not reach the database:\n${gateway.output().slice(-2_000)}`);
    await pause(50);
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ id: string; n: number }>(
    "SELECT correlation_id AS id, count(*)::int AS n FROM audit_rows WHERE correlation_id LIKE 'call-%' GROUP BY 1",
  );
  await client.end();
  const recorded = new Map(rows.map(({ id, n }) => [id, n]));
  expect(failed).toEqual([]);
  expect(answered.filter((id) => recorded.get(id) !== 1)).toEqual([]);
  expect([...recorded.values()].filter((count) => count !== 1)).toEqual([]);
  const { chains } = await admin.get("/v1/admin/audit/chains");
  for (const { chain_id } of chains)
    expect(await admin.post(`/v1/admin/audit/chains/${chain_id}/verify`, {})).toMatchObject({ verdict: "intact", findings: [] });
}

for (const seconds of [1, LONG_SECONDS]) {
  test(
    `PostgreSQL frozen for ${seconds} s: no call fails, no row is lost or doubled, memory stays bounded`,
    async () => {
      const under = load();
      await under.reached(50);
      const before = await metric("gatehouse_resident_memory_bytes");
      // Twice, to catch processes that were started while the others were being stopped.
      const stopped = new Set([...processes(), ...processes()]);
      for (const pid of stopped) process.kill(pid, "SIGSTOP");
      const since = performance.now();
      const atStop = under.answered.length;
      try {
        while (performance.now() - since < seconds * 1000) await pause(20);
        expect(await metric("gatehouse_ledger_unshipped_rows")).toBeGreaterThan(0);
      } finally {
        for (const pid of [...stopped].toReversed()) process.kill(pid, "SIGCONT");
      }
      const meanwhile = under.answered.length - atStop;
      const memory = await metric("gatehouse_resident_memory_bytes");
      await under.reached(50);
      await under.end();
      await accountFor(under);
      expect(meanwhile).toBeGreaterThan(0);
      expect(memory - before).toBeLessThan(200 * 1024 * 1024);
      console.log(
        `  silent for ${seconds} s: ${meanwhile} calls answered meanwhile, 0 failed, 0 lost, 0 doubled; memory ${Math.round(before / 2 ** 20)} to ${Math.round(memory / 2 ** 20)} MiB`,
      );
    },
    LONG_TEST_MS + seconds * 1000,
  );
}

test(
  "PostgreSQL killed and recovered: no call fails, no row is lost or doubled",
  async () => {
    const under = load();
    await under.reached(50);
    const [postmaster = 0, ...children] = processes();
    for (const pid of [postmaster, ...children]) process.kill(pid, "SIGKILL");
    await under.reached(200);
    await under.end();
    await accountFor(under);
    console.log(`  killed with ${children.length} of its processes: ${under.answered.length} calls answered, 0 failed, 0 lost, 0 doubled`);
  },
  LONG_TEST_MS,
);

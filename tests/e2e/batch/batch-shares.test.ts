import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type AdminClient, type Served, serveModels, signIn } from "../../support/worlds/admin.ts";
import { testDatabase } from "../../support/database.ts";
import { ANSWER_TEXT } from "../../support/vendors/fake-upstream.ts";
import { ADMIN_PASSWORD, type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { LONG_TEST_MS } from "../../support/patience.ts";

/**
 * What a batch leaves for others: a short job of another tenant next to a long one, waiting callers, memory. The full measurement is
 * `BATCH_LONG=50000 BATCH_SHORT=100 BATCH_CALLS=1000 npm test -- tests/e2e/batch/batch-shares`, which prints its figures.
 */
const LONG = Number(process.env.BATCH_LONG ?? 3_000);
const SHORT = Number(process.env.BATCH_SHORT ?? 100);
/** Most lines of the long job per line of the short one, from the short job's submission to its end. */
const MAX_MEANWHILE = 10;
const CALLS = Number(process.env.BATCH_CALLS ?? 200);
const ANSWER_MS = 20;

let database: Awaited<ReturnType<typeof testDatabase>>;
let gateway: GatewayProcess;
let system: AdminClient;
const served: Record<string, Served> = {};
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    await request.text();
    await Bun.sleep(ANSWER_MS);
    return new Response(ANSWER_TEXT, { headers: { "content-type": "application/json" } });
  },
});

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startGateway({ databaseUrl: database.url, env: { GW_ALLOW_PRIVATE_UPSTREAMS: "on" } });
  system = await signIn(gateway.adminUrl);
  served.default = await serveModels(system, `http://127.0.0.1:${upstream.port}/v1`, ["m"]);
  await system.post("/v1/admin/tenants", { id: "other", name: "other" });
  await system.post("/v1/admin/admin-users", { username: "of-other", password: ADMIN_PASSWORD, tenant_id: "other", role: "owner" });
  const other = await signIn(gateway.adminUrl, { username: "of-other", password: ADMIN_PASSWORD, tenant_id: "other" }, "tenant");
  served.other = await serveModels(
    {
      ...other,
      post: (path, body) => other.post(path, { ...(body as object), ...("tenant_id" in (body as object) ? { tenant_id: "other" } : {}) }),
    },
    `http://127.0.0.1:${upstream.port}/v1`,
    ["m"],
  );
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop(true);
  await database.close();
  await removeDirectory(gateway.dataDir);
});

const rssMiB = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid()}/status`, "utf8"))?.[1]) / 1024;
const keyOf = (tenant: string) => served[tenant]?.apiKey as string;
async function api(tenant: string, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/batch/jobs${path}`, {
    method,
    headers: { "x-api-key": keyOf(tenant), "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}
const submit = async (tenant: string, lines: number): Promise<string> =>
  (
    await api(tenant, "POST", "", {
      model: "m",
      requests: Array.from({ length: lines }, (_, i) => ({ custom_id: `n${i}`, body: { messages: [{ role: "user", content: `n${i}` }] } })),
    })
  ).id;
async function ended(tenant: string, id: string): Promise<any> {
  for (;;) {
    const job = await api(tenant, "GET", `/${id}`);
    if (job.ended_at !== null) return job;
    await Bun.sleep(100);
  }
}
const secondsOf = ({ in_progress_at: from, ended_at: to }: any) => (Date.parse(to) - Date.parse(from)) / 1000;

async function p99(calls: number): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < calls; i++) {
    const from = performance.now();
    const answer = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "x-api-key": keyOf("other"), "content-type": "application/json" },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "x" }] }),
    });
    await answer.text();
    took.push(performance.now() - from);
  }
  return took.toSorted((a, b) => a - b)[Math.floor(calls * 0.99)] as number;
}

test(
  "a short job next to a long one of another tenant gets its share of lines, and memory stays flat",
  async () => {
    const idle = rssMiB();
    const alone = secondsOf(await ended("other", await submit("other", SHORT)));
    const quiet: number[] = [];
    const beside: number[] = [];
    // No calls before this: for two seconds after a call, lines are started slowly, and the two durations could not be compared.
    const long = await submit("default", LONG);
    let most = rssMiB();
    const watch = setInterval(() => {
      most = Math.max(most, rssMiB());
    }, 200);
    const doneOf = async () => (await api("default", "GET", `/${long}`)).request_counts.completed as number;
    const shortId = await submit("other", SHORT);
    const before = await doneOf();
    const short = secondsOf(await ended("other", shortId));
    const meanwhile = (await doneOf()) - before;
    beside.push(await p99(CALLS));
    console.log(
      `short alone ${alone} s, beside ${short} s; p99 without ${quiet} ms, with ${beside} ms; memory ${idle} to ${most} MiB so far`,
    );
    const job = await ended("default", long);
    clearInterval(watch);
    quiet.push(await p99(CALLS));
    expect(job).toMatchObject({ status: "completed", request_counts: { completed: LONG } });
    const ms = (all: number[]) => all.map((one) => `${one.toFixed(1)} ms`).join(", ");
    console.log(
      `${meanwhile} lines of the long job meanwhile; ${SHORT} lines alone ${alone.toFixed(1)} s, beside ${LONG} of another tenant ${short.toFixed(1)} s; the long job ${secondsOf(job).toFixed(0)} s; ` +
        `p99 of ${CALLS} calls without ${ms(quiet)}, with ${ms(beside)}; memory idle ${idle.toFixed(0)} MiB, most ${most.toFixed(0)} MiB`,
    );
    expect(most - idle).toBeLessThan(100);
    // Two tenants share equally, however fast the machine is; the short job's lines start at the runner's next poll.
    expect(meanwhile).toBeLessThan(MAX_MEANWHILE * SHORT);
  },
  LONG_TEST_MS,
);

import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowsOf, type Served, serveModels, signIn } from "../support/admin.ts";
import { testDatabase } from "../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../support/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";

/**
 * The gateway is killed (SIGKILL) again and again under mixed load. Whatever the upstream saw has exactly one row, every
 * call that was answered has its row, the chain is intact, and each start needs no hand.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 30);
const CALLERS = 12;

let upstream: FakeUpstream;
let databaseUrl: string;
let closeDatabase: () => Promise<void>;
let dataDir: string;

beforeAll(async () => {
  const database = await testDatabase();
  databaseUrl = database.url;
  closeDatabase = database.close;
  upstream = startFakeUpstream();
  dataDir = await temporaryDirectory();
}, 30_000);

afterAll(async () => {
  await upstream.stop();
  await closeDatabase();
  await removeDirectory(dataDir);
});

/** Calls until the gateway is gone; gives the correlation ids of the calls whose answer came whole. */
async function load(gateway: GatewayProcess, served: Served, seed: number, gone: { now: boolean; lastAnswer: string }): Promise<string[]> {
  const answered: string[] = [];
  for (let i = 0; !gone.now; i++) {
    const correlation = `${seed}-${i}`;
    const kind = (seed + i) % 3;
    const body = { model: kind === 2 ? "not-there" : "fake-1", stream: kind === 1, messages: [{ role: "user", content: correlation }] };
    try {
      const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, { method: "POST", headers: { "content-type": "application/json", "x-api-key": served.apiKey, "x-correlation-id": correlation }, body: JSON.stringify(body) });
      const text = await response.text();
      gone.lastAnswer = `${response.status} ${text}`;
      if (kind !== 1 || text.includes("[DONE]")) answered.push(correlation);
    } catch (error) {
      // Killed in the middle: nothing was promised to this caller.
      gone.lastAnswer = String(error);
    }
  }
  return answered;
}

test(`${ROUNDS} kills under load: one row for every call the upstream saw, none lost, none doubled`, async () => {
  let served: Served | undefined;
  const answered: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const gateway = await startGateway({ databaseUrl, dataDir });
    served ??= await serveModels(await signIn(gateway.adminUrl), upstream.baseUrl, ["fake-1"]);
    const gone = { now: false, lastAnswer: "" };
    const before = upstream.seen.length;
    const callers = Array.from({ length: CALLERS }, (_, i) => load(gateway, served as Served, round * 1_000 + i, gone));
    // Killed somewhere in the traffic: after so many calls, another number each round.
    const deadline = Date.now() + 20_000;
    while (upstream.seen.length < before + 20 + ((round * 37) % 120)) {
      if (Date.now() > deadline) throw new Error(`round ${round}: calls no longer reach the upstream; the last answer was ${gone.lastAnswer}; the gateway said:\n${gateway.output()}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const killed = gateway.kill();
    gone.now = true;
    await killed;
    answered.push(...(await Promise.all(callers)).flat());
  }

  const gateway = await startGateway({ databaseUrl, dataDir });
  const admin = await signIn(gateway.adminUrl);
  const deadline = Date.now() + 20_000;
  while (!/^gatehouse_ledger_unshipped_rows 0$/m.test(await (await fetch(`${gateway.adminUrl}/metrics`)).text())) if (Date.now() > deadline) throw new Error("the journal does not reach the database");
  const reached = upstream.seen.map(({ body }) => JSON.parse(body).messages[0].content as string);
  const recorded = new Map<string, number>();
  for (let page = 1; ; page++) {
    const { rows } = await admin.post("/v1/admin/proxy-logs/query", { filters: { proxy_subtype: "chat_completions" }, page, page_size: 200 });
    for (const row of rows) recorded.set(row.correlation_id, (recorded.get(row.correlation_id) ?? 0) + 1);
    if (rows.length < 200) break;
  }
  expect(reached.filter((correlation) => recorded.get(correlation) !== 1)).toEqual([]);
  expect(answered.filter((correlation) => recorded.get(correlation) !== 1)).toEqual([]);
  expect([...recorded].filter(([, count]) => count !== 1)).toEqual([]);

  const interrupted = await rowsOf(admin, { error_type: "gateway_interrupted" }, 1);
  expect(interrupted.every((row) => row.success === false)).toBe(true);
  const { chains } = await admin.get("/v1/admin/audit/chains");
  for (const { chain_id } of chains) {
    const verified = await admin.post(`/v1/admin/audit/chains/${chain_id}/verify`, {});
    expect(verified).toMatchObject({ verdict: "intact", findings: [] });
  }
  console.log(`${ROUNDS} kills, ${reached.length} calls reached the upstream, ${answered.length} were answered, ${interrupted.length}+ interrupted, ${[...recorded].length} rows`);
  expect(await gateway.stop()).toBe(0);
}, 300_000);

import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowsOf, type Served, serveModels, signIn } from "../support/worlds/admin.ts";
import { testDatabase } from "../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../support/patience.ts";

/**
 * Four gateways on one database are killed (SIGKILL) again and again under mixed load, independently of each other. Whatever the upstream
 * received has exactly one row, every answered call has its row, the chains are intact, and each start needs no manual repair.
 */
const WRITERS = 4;
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 9);
const CALLERS = 4;

let upstream: FakeUpstream;
let databaseUrl: string;
let closeDatabase: () => Promise<void>;
let dataDirs: string[];

beforeAll(async () => {
  const database = await testDatabase();
  databaseUrl = database.url;
  closeDatabase = database.close;
  upstream = startFakeUpstream();
  dataDirs = await Promise.all(Array.from({ length: WRITERS }, temporaryDirectory));
});

afterAll(async () => {
  await upstream.stop();
  await closeDatabase();
  await Promise.all(dataDirs.map(removeDirectory));
});

/** Makes calls until the gateway is gone; resolves with the correlation IDs of the calls that were answered completely. */
async function load(
  gateway: GatewayProcess,
  served: Served,
  seed: number,
  gone: { now: boolean; lastAnswer: string; answers: number },
): Promise<string[]> {
  const answered: string[] = [];
  for (let i = 0; !gone.now; i++) {
    const correlation = `${seed}-${i}`;
    const kind = (seed + i) % 3;
    const body = { model: kind === 2 ? "not-there" : "fake-1", stream: kind === 1, messages: [{ role: "user", content: correlation }] };
    try {
      const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": served.apiKey, "x-correlation-id": correlation },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      gone.lastAnswer = `${response.status} ${text}`;
      gone.answers++;
      if (kind !== 1 || text.includes("[DONE]")) answered.push(correlation);
    } catch (error) {
      // Killed in the middle of a call: this caller was promised nothing.
      gone.lastAnswer = String(error);
    }
  }
  return answered;
}

/** A fleet shares its secrets; each process has its own journal. */
const FLEET = {
  GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
  GW_JWT_SECRET: "one secret for the whole fleet, for tests",
  GW_QUICKSTART: "off",
};
const start = (writer: number) => startGateway({ databaseUrl, dataDir: dataDirs[writer] as string, env: FLEET });

/** Starts and kills one of the gateways again and again. Resolves with the correlation IDs of the calls it answered. */
async function killed(writer: number, first: GatewayProcess | null, served: Served): Promise<string[]> {
  const answered: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const gateway = round === 0 && first !== null ? first : await start(writer);
    const gone = { now: false, lastAnswer: "", answers: 0 };
    const seed = writer * 1_000_000 + round * 1_000;
    const callers = Array.from({ length: CALLERS }, (_, i) => load(gateway, served, seed + i, gone));
    // Killed in the middle of traffic, after a different number of calls each round.
    const deadline = Date.now() + PATIENCE_MS;
    while (gone.answers < 15 + ((round * 37 + writer * 11) % 90)) {
      if (Date.now() > deadline)
        throw new Error(
          `writer ${writer}, round ${round}: calls are no longer answered; the last answer was ${gone.lastAnswer}; the gateway said:\n${gateway.output()}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const killing = gateway.kill();
    gone.now = true;
    await killing;
    answered.push(...(await Promise.all(callers)).flat());
  }
  return answered;
}

test(
  `${WRITERS * ROUNDS} kills of ${WRITERS} gateways: one row for every call the upstream saw, none lost or doubled`,
  async () => {
    const opening = await start(0);
    const served = await serveModels(await signIn(opening.adminUrl), upstream.baseUrl, ["fake-1"]);
    const answered = (
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => killed(writer, writer === 0 ? opening : null, served)))
    ).flat();

    const restarted = Date.now();
    const gateways = await Promise.all(Array.from({ length: WRITERS }, (_, writer) => start(writer)));
    const admin = await signIn(gateways[0]?.adminUrl ?? "");
    const deadline = Date.now() + PATIENCE_MS;
    for (const gateway of gateways)
      while (!/^gatehouse_ledger_unshipped_rows 0$/m.test(await (await fetch(`${gateway.adminUrl}/metrics`)).text()))
        if (Date.now() > deadline) throw new Error("a journal does not reach the database");
    const recovered = Date.now() - restarted;
    const reached = upstream.seen.map(({ body }) => JSON.parse(body).messages[0].content as string);
    const recorded = new Map<string, number>();
    for (let page = 1; ; page++) {
      const { rows } = await admin.post("/v1/admin/proxy-logs/query", {
        filters: { proxy_subtype: "chat_completions" },
        page,
        page_size: 200,
      });
      for (const row of rows) recorded.set(row.correlation_id, (recorded.get(row.correlation_id) ?? 0) + 1);
      if (rows.length < 200) break;
    }
    expect(reached.filter((correlation) => recorded.get(correlation) !== 1)).toEqual([]);
    expect(answered.filter((correlation) => recorded.get(correlation) !== 1)).toEqual([]);
    expect([...recorded].filter(([, count]) => count !== 1)).toEqual([]);

    const interrupted = await rowsOf(admin, { error_type: "gateway_interrupted" }, 1);
    expect(interrupted.every((row) => row.success === false)).toBe(true);
    const { chains } = await admin.get("/v1/admin/audit/chains");
    expect(chains).toHaveLength(WRITERS);
    for (const { chain_id } of chains) {
      const verified = await admin.post(`/v1/admin/audit/chains/${chain_id}/verify`, {});
      expect(verified).toMatchObject({ verdict: "intact", findings: [] });
    }
    console.log(
      `  ${WRITERS * ROUNDS} kills of ${WRITERS} writers: ${reached.length} calls reached the upstream, ${answered.length} were answered, ${recorded.size} rows, ${interrupted.length} or more interrupted; all said so ${recovered} ms after the last start`,
    );
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0);
  },
  LONG_TEST_MS + ROUNDS * 20_000,
);

import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** An exporter that timed out sends its batch again, possibly to another process. */
let database: TestDatabase;
const gateways: GatewayProcess[] = [];
let admin: AdminClient;
let team: Team;

beforeAll(async () => {
  database = await testDatabase();
  for (let one = 0; one < 2; one++) gateways.push(await startGateway({ databaseUrl: database.url }));
  admin = await signIn((gateways[0] as GatewayProcess).adminUrl);
  team = await newTeam(admin, "traced");
});
afterAll(async () => {
  for (const gateway of gateways) {
    await gateway.stop();
    await removeDirectory(gateway.dataDir);
  }
  await database.close();
});

function batchOf(count: number) {
  const traceId = randomBytes(16).toString("hex");
  const at = `${Date.now()}000000`;
  const spans = Array.from({ length: count }, () => ({
    ...{ traceId, spanId: randomBytes(8).toString("hex"), name: "chat m", kind: 3, startTimeUnixNano: at, endTimeUnixNano: at },
    attributes: [{ key: "gen_ai.operation.name", value: { stringValue: "chat" } }],
  }));
  return { traceId, body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }) };
}

/** Retries after a 503 as exporters do, until the batch is accepted. */
function exported({ runtimeUrl }: GatewayProcess, body: string): Promise<number> {
  const headers = { "content-type": "application/json", "x-api-key": team.apiKey };
  const sent = () => fetch(`${runtimeUrl}/v1/ingest/otel/v1/traces`, { method: "POST", headers, body }).then(({ status }) => status);
  return until(sent, (status) => status === 200);
}

const rowsOfTrace = (traceId: string) =>
  admin.post("/v1/admin/proxy-logs/query", { filters: { trace_id: traceId, source: "otel" }, page_size: 200 });

/** A process ships rows in order: once a later span is stored, so is everything before it. */
async function shipped(gateway: GatewayProcess): Promise<void> {
  const { traceId, body } = batchOf(1);
  await exported(gateway, body);
  await until(
    () => rowsOfTrace(traceId),
    ({ total }) => total === 1,
  );
}

test("a batch sent to two processes at the same time is recorded once, and both accept it", async () => {
  for (const gateway of gateways) await shipped(gateway);
  for (let round = 0; round < 3; round++) {
    const { traceId, body } = batchOf(20);
    await Promise.all(gateways.map((gateway) => exported(gateway, body)));
    for (const gateway of gateways) await shipped(gateway);
    const { rows } = await rowsOfTrace(traceId);
    expect([rows.length, new Set(rows.map(({ span_id: id }: any) => id)).size]).toEqual([20, 20]);
  }
});

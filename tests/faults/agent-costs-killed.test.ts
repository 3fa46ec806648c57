import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { rowsOf, signIn } from "../support/worlds/admin.ts";
import { grantAgent, message, registerAgent } from "../e2e/agents/a2a-harness.ts";
import { newTeam } from "../e2e/tools/mcp-harness.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { type AgentFixture, startAgent } from "../support/tool-servers/agents.ts";
import { until } from "../support/until.ts";

/** A gateway is killed after it counted the cost that an agent reported, and before it recorded the call. */
let agent: AgentFixture;
let database: TestDatabase;
let sql: pg.Client;
let gateway: GatewayProcess;

beforeAll(async () => {
  agent = await startAgent();
  database = await testDatabase();
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  gateway = await startGateway({ databaseUrl: database.url });
});

afterAll(async () => {
  await gateway.stop();
  await agent.stop();
  await sql.end();
  await database.close();
  await removeDirectory(gateway.dataDir);
});

test("a cost that was counted but not recorded is recorded by one row, with several processes looking", async () => {
  let admin = await signIn(gateway.adminUrl);
  const team = await newTeam(admin, "payers");
  await grantAgent(admin, (await registerAgent(admin, "fixture", agent.url)).id, [team.groupId]);
  const streamed = await fetch(`${gateway.runtimeUrl}/a2a/default/fixture/message:stream`, {
    method: "POST",
    headers: { "x-api-key": team.apiKey, "a2a-version": "1.0", "content-type": "application/json" },
    body: JSON.stringify(message("pay 0.5")),
  });
  expect(streamed.status).toBe(200);
  const counted = async () => (await sql.query("SELECT counted_micros::int AS n FROM agent_tasks")).rows[0]?.n;
  await until(counted, (n) => n === 500_000);
  await gateway.kill();
  await streamed.text().catch(() => undefined);
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  const second = await startGateway({ databaseUrl: database.url });
  try {
    admin = await signIn(gateway.adminUrl);
    const { rows: begun } = await until(
      () => sql.query("SELECT id, error_type, llm_estimated_cost_usd FROM audit_rows WHERE proxy_subtype = 'message_stream'"),
      ({ rows }) => rows.length === 1,
    );
    expect(begun).toMatchObject([{ error_type: "gateway_interrupted", llm_estimated_cost_usd: null }]);
    await sql.query("UPDATE agent_cost_claims SET look_at = now()");
    const told = await rowsOf(admin, { proxy_subtype: "task_cost" }, 1);
    expect(told).toMatchObject([{ llm_estimated_cost_usd: 0.5, parent_request_id: begun[0].id }]);
    // Once the row is known to be stored, there is nothing left to report.
    await sql.query("UPDATE agent_cost_claims SET look_at = now()");
    await until(
      async () => (await sql.query("SELECT FROM agent_cost_claims")).rowCount,
      (n) => n === 0,
    );
    expect((await sql.query("SELECT cost_due_at, owed_micros::int FROM agent_tasks")).rows).toEqual([
      { cost_due_at: null, owed_micros: 0 },
    ]);
    expect((await rowsOf(admin, { proxy_subtype: "task_cost" }, 1)).length).toBe(1);
  } finally {
    await second.stop();
    await removeDirectory(second.dataDir);
  }
});

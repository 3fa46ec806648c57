import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowsOf, serveModels, signIn } from "../support/worlds/admin.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { type ResponseVendor, startResponseVendor } from "../support/vendors/response-vendor.ts";
import { until } from "../support/until.ts";

/** A gateway is killed while a provider generates background responses. */
let vendor: ResponseVendor;
let database: TestDatabase;
let gateway: GatewayProcess;

beforeAll(async () => {
  vendor = startResponseVendor();
  database = await testDatabase();
  gateway = await startGateway({ databaseUrl: database.url });
});

afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
  await database.close();
  await removeDirectory(gateway.dataDir);
});

test("after a kill their worst case is held again before a call is accepted, and each is metered by one row", async () => {
  let admin = await signIn(gateway.adminUrl);
  const priced = { mode: "responses", modes: ["responses", "chat"], input_cost_per_million_tokens: 10, output_cost_per_million_tokens: 20 };
  const { groupId, apiKey } = await serveModels(admin, `${vendor.origin}/v1`, [{ name: "m", ...priced }]);
  const limits = { llm_global_limits: { budget: { daily_limit_usd: 0.045, hard_stop: true } } };
  expect((await admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, limits)).status).toBe(200);
  const ask = async () => {
    const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/responses`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", input: "Hi", background: true, max_output_tokens: 1000 }),
    });
    return { status: response.status, body: (await response.json()) as any };
  };
  const made = [await ask(), await ask()];
  expect(made.map(({ status }) => status)).toEqual([200, 200]);
  expect((await ask()).status).toBe(429);
  await gateway.kill();
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  expect((await ask()).status).toBe(429);
  expect(vendor.kept.size).toBe(2);
  vendor.finish();
  admin = await signIn(gateway.adminUrl);
  const rows = await rowsOf(admin, { proxy_subtype: "response_end" }, 2);
  expect(rows.map((row) => [row.custom_metadata.response_end.response_id, row.llm_estimated_cost_usd]).toSorted()).toEqual(
    made.map(({ body }) => [body.id, 0.02]).toSorted(),
  );
  // $0.04 of $0.045 is spent and nothing is held: a long response does not fit, a short one does.
  await until(
    async () => (await admin.get(`/v1/admin/resource-groups/${groupId}/consumption`)).limits,
    (all) => all.some((one: any) => one.limit_type === "daily_budget" && Math.abs(one.current - 0.04) < 1e-6),
  );
  expect((await ask()).status).toBe(429);
  await gateway.kill();
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  admin = await signIn(gateway.adminUrl);
  expect((await rowsOf(admin, { proxy_subtype: "response_end" }, 2)).length).toBe(2);
});

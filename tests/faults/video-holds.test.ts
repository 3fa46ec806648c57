import { afterAll, beforeAll, expect, test } from "bun:test";
import { serveModels, signIn } from "../support/worlds/admin.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { startVideoVendor, type VideoVendor } from "../support/vendors/video-vendor.ts";

/** Long enough that no job ends during the test. */
const vendor: VideoVendor = startVideoVendor({ takes: () => 3_600_000 });
let database: TestDatabase;
let gateway: GatewayProcess;

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startGateway({ databaseUrl: database.url });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
  await database.close();
  await removeDirectory(gateway.dataDir);
});

test("after a kill the worst case of running videos is held before a call is accepted", async () => {
  const admin = await signIn(gateway.adminUrl);
  const { groupId, apiKey } = await serveModels(admin, `${vendor.origin}/v1`, [
    { name: "film-1", mode: "video", video_cost_per_second: 0.1, max_video_duration_seconds: 10 },
  ]);
  const limits = { llm_global_limits: { budget: { daily_limit_usd: 1, hard_stop: true } } };
  expect((await admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, limits)).status).toBe(200);
  const film = async () => {
    const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/video/generations`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ model: "film-1", prompt: "A lighthouse", duration_seconds: 8 }),
    });
    await response.text();
    return response.status;
  };
  // 8 s at $0.10 on a budget of $1: a second one does not fit.
  expect(await film()).toBe(200);
  expect(await film()).toBe(429);
  await gateway.kill();
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  expect(await film()).toBe(429);
  expect(vendor.jobs.size).toBe(1);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf, serveModels, signIn } from "../support/worlds/admin.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { removeDirectory, startGateway } from "../support/gateway.ts";
import { PATIENCE_MS } from "../support/patience.ts";

let database: TestDatabase;
let upstream: FakeUpstream;

beforeAll(async () => {
  database = await testDatabase();
  upstream = startFakeUpstream();
});
afterAll(async () => {
  await upstream.stop();
  await database.close();
});

test("the row of a call whose gateway was killed has the attempt in flight, and earlier attempts with their usage", async () => {
  let gateway = await startGateway({ databaseUrl: database.url });
  const admin = await signIn(gateway.adminUrl);
  const tenant = { tenant_id: "default" };
  await admin.post("/v1/admin/llm-router/routing-groups", {
    ...tenant,
    id: "either",
    name: "either",
    mode: "chat",
    routing_strategy: "ordered",
    num_retries: 1,
  });
  const member = { routing_group_id: "either", input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 1 };
  const { apiKey } = await serveModels(admin, upstream.baseUrl, [
    { name: "first", model_name: "spent", routing_weight: 2, ...member },
    { name: "second", model_name: "silent", routing_weight: 1, ...member },
  ]);
  const body = JSON.stringify({ model: "either", stream: true, messages: [{ role: "user", content: "Hi" }] });
  const answer = fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "x-correlation-id": "killed" },
    body,
  }).catch(() => null);
  for (const deadline = Date.now() + PATIENCE_MS; !upstream.seen.some((request) => request.body.includes("silent"));) {
    if (Date.now() > deadline) throw new Error("the second member is not asked");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await gateway.kill();
  await answer;

  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  expect(await rowOf(await signIn(gateway.adminUrl), { correlation_id: "killed" })).toMatchObject({
    success: false,
    error_type: "gateway_interrupted",
    llm_model_requested: "either",
    llm_model_used: "second",
    llm_used_fallback: true,
    llm_fallback_reason: "upstream_interrupted",
    llm_prompt_tokens: 12,
    llm_completion_tokens: 4,
    llm_estimated_cost_usd: 0.000016,
    custom_metadata: {
      attempts: [
        { model: "first", outcome: "upstream_interrupted", prompt_tokens: 12 },
        { model: "second", outcome: "gateway_interrupted", status: null, duration_ms: null },
      ],
    },
  });
  await gateway.stop();
  await removeDirectory(gateway.dataDir);
});

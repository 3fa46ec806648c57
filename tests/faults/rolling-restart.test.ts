import { expect, test } from "bun:test";
import { serveModels, signIn } from "../support/worlds/admin.ts";
import { startBalancer } from "../support/processes/balancer.ts";
import { testDatabase } from "../support/database.ts";
import { startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { servedBy } from "../support/until.ts";

const CALLS = 2_000;
const CALLERS = 4;
const RESTARTS = 4;

test(`${CALLS} calls over ${RESTARTS} rolling restarts behind a load balancer: none is refused`, async () => {
  const database = await testDatabase();
  const upstream = startFakeUpstream();
  const balancer = await startBalancer();
  const env = { GW_DRAIN_NOTICE_SECONDS: "2", GW_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"), GW_JWT_SECRET: "x".repeat(32) };
  const started = async (dataDir?: string): Promise<GatewayProcess> => {
    const gateway = await startGateway({ databaseUrl: database.url, env, ...(dataDir === undefined ? {} : { dataDir }) });
    balancer.add(gateway.runtimeUrl);
    await balancer.ready(gateway.runtimeUrl);
    return gateway;
  };
  const fleet = [await started(), await started()];
  const served = await serveModels(await signIn((fleet[0] as GatewayProcess).adminUrl), upstream.baseUrl, ["fake-1"]);
  const body = JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] });
  const headers = { "content-type": "application/json", "x-api-key": served.apiKey };

  await servedBy(fleet, "fake-1", served.apiKey);

  const answers = new Map<string, number>();
  let calls = 0;
  let restarting = true;
  const caller = async () => {
    while (restarting || calls < CALLS) {
      calls++;
      const answer = await fetch(`${balancer.url}/v1/proxy/llm/chat/completions`, { method: "POST", headers, body }).then(
        async (reply) => (reply.ok ? "served" : `${reply.status} ${await reply.text()}`),
        (error: Error) => error.message,
      );
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      // The wanted number of calls, spread over all restarts.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const calling = Array.from({ length: CALLERS }, caller);
  for (let round = 0; round < RESTARTS; round++) {
    const old = fleet[round % 2] as GatewayProcess;
    expect(await old.stop()).toBe(0);
    balancer.remove(old.runtimeUrl);
    fleet[round % 2] = await started(old.dataDir);
  }
  restarting = false;
  await Promise.all(calling);
  expect([...answers]).toEqual([["served", calls]]);
  expect(calls).toBeGreaterThanOrEqual(CALLS);

  await balancer.close();
  for (const gateway of fleet) {
    await gateway.stop();
    await removeDirectory(gateway.dataDir);
  }
  await upstream.stop();
  await database.close();
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, signIn } from "../support/admin.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { newTeam, type Team } from "./mcp-harness.ts";

/** What holds a system back is in force on every process within a second, whichever of them was told. */
const PROCESSES = 3;
const WITHIN_MS = 1_000;
let database: TestDatabase;
const gateways: GatewayProcess[] = [];
let admin: AdminClient;
let team: Team;
let model = "m";

beforeAll(async () => {
  database = await testDatabase();
  for (let one = 0; one < PROCESSES; one++) gateways.push(await startGateway({ databaseUrl: database.url }));
  admin = await signIn((gateways[0] as GatewayProcess).adminUrl);
  team = await newTeam(admin, "system");
  await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "own-echo", api_format: "echo" });
  await admin.post("/v1/admin/llms", { tenant_id: "default", name: "m", provider: "own-echo", group_ids: [team.groupId] });
  await admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: team.groupId });
});
afterAll(async () => {
  for (const gateway of gateways) {
    await gateway.stop();
    await removeDirectory(gateway.dataDir);
  }
  await database.close();
});

async function ask({ runtimeUrl }: GatewayProcess): Promise<number> {
  const answer = await fetch(`${runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.text();
  return answer.status;
}

/** Milliseconds from when the admin was answered until a call begun then is answered so, for each process. */
async function until(status: number): Promise<number[]> {
  const since = performance.now();
  return Promise.all(
    gateways.map(async (gateway) => {
      for (;;) {
        const began = performance.now();
        if ((await ask(gateway)) === status) return began - since;
        if (began - since > 30_000) throw new Error(`${gateway.runtimeUrl} never answered with ${status}`);
      }
    }),
  );
}

const at = (rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;
const slowest: number[] = [];

test("a suspension holds on every process within a second", async () => {
  await until(200);
  await admin.post(at("/lifecycle"), { to: "suspended", reason: "it sends odd mails" });
  slowest.push(Math.max(...(await until(403))));
  expect(Math.max(...slowest)).toBeLessThan(WITHIN_MS);
});

test("so does an envelope, which holds and lets go again and again", async () => {
  const other = await newTeam(admin, "another");
  [team, model] = [other, "m2"];
  await admin.post("/v1/admin/llms", { tenant_id: "default", name: "m2", provider: "own-echo", group_ids: [other.groupId] });
  await admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: other.groupId });
  await until(200);
  for (let round = 0; round < 4; round++) {
    await admin.request("PUT", at("/envelope"), { autonomy_level: "suspended" });
    slowest.push(Math.max(...(await until(403))));
    await admin.request("PUT", at("/envelope"), { autonomy_level: "autonomous" });
    slowest.push(Math.max(...(await until(200))));
  }
  console.log(`  in force on ${PROCESSES} processes: slowest of ${slowest.length} changes ${Math.round(Math.max(...slowest))} ms`);
  expect(Math.max(...slowest)).toBeLessThan(WITHIN_MS);
});

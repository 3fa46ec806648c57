import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { leastOf } from "../../support/until.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Restrictions on a system are in force on every process within a second, whichever process received the change. */
const PROCESSES = 3;
const WITHIN_MS = 1_000;
const TRIES = 4;
let database: TestDatabase;
const gateways: GatewayProcess[] = [];
let admin: AdminClient;
let team: Team;
let model: string;

beforeAll(async () => {
  database = await testDatabase();
  for (let one = 0; one < PROCESSES; one++) gateways.push(await startGateway({ databaseUrl: database.url }));
  admin = await signIn((gateways[0] as GatewayProcess).adminUrl);
  await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "own-echo", api_format: "echo" });
});
afterAll(async () => {
  for (const gateway of gateways) {
    await gateway.stop();
    await removeDirectory(gateway.dataDir);
  }
  await database.close();
});

let systems = 0;

/** A system with its own model, known to every process. */
async function newSystem(): Promise<void> {
  model = `m${++systems}`;
  team = await newTeam(admin, `system ${systems}`);
  await admin.post("/v1/admin/llms", { tenant_id: "default", name: model, provider: "own-echo", group_ids: [team.groupId] });
  await admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: team.groupId });
  await answeredWith(200);
}

async function ask({ runtimeUrl }: GatewayProcess): Promise<number> {
  const answer = await fetch(`${runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.text();
  return answer.status;
}

/** Milliseconds from the admin's answer until newly begun calls get `status`, at the slowest process. */
async function answeredWith(status: number): Promise<number> {
  const since = performance.now();
  const each = await Promise.all(
    gateways.map(async (gateway) => {
      for (;;) {
        const began = performance.now();
        if ((await ask(gateway)) === status) return began - since;
        if (began - since > PATIENCE_MS) throw new Error(`${gateway.runtimeUrl} never answered with ${status}`);
      }
    }),
  );
  return Math.max(...each);
}

const at = (rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;

test("a suspension is in force on every process within a second", async () => {
  const ms = await leastOf(TRIES, WITHIN_MS, async () => {
    await newSystem();
    await admin.post(at("/lifecycle"), { to: "suspended", reason: "it sends odd mails" });
    return answeredWith(403);
  });
  expect(ms).toBeLessThan(WITHIN_MS);
});

test("an envelope's suspension is in force on every process within a second, and so is its end", async () => {
  await newSystem();
  const told = async (autonomy_level: string, status: number) => {
    await admin.request("PUT", at("/envelope"), { autonomy_level });
    return answeredWith(status);
  };
  const ms = await leastOf(TRIES, WITHIN_MS, async () => Math.max(await told("suspended", 403), await told("autonomous", 200)));
  console.log(`  in force on ${PROCESSES} processes after ${Math.round(ms)} ms`);
  expect(ms).toBeLessThan(WITHIN_MS);
});

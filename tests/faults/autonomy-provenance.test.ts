import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, signIn } from "../support/worlds/admin.ts";
import { type DatabaseProxy, databaseProxy } from "../support/processes/database-proxy.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { newTeam, type Team } from "../e2e/tools/mcp-harness.ts";

/** A process that no longer receives changes keeps enforcing what it last knew, and says so in its rows. */
let database: TestDatabase;
let proxy: DatabaseProxy;
let gateway: GatewayProcess;
let admin: AdminClient;
let team: Team;

beforeAll(async () => {
  database = await testDatabase();
  proxy = await databaseProxy(database.url);
  gateway = await startGateway({ databaseUrl: proxy.url });
  admin = await signIn(gateway.adminUrl);
  team = await newTeam(admin, "system");
  await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "own-echo", api_format: "echo" });
  await admin.post("/v1/admin/llms", { tenant_id: "default", name: "m", provider: "own-echo", group_ids: [team.groupId] });
  await admin.post("/v1/admin/ai-systems", { tenant_id: "default", group_id: team.groupId });
});
afterAll(async () => {
  await gateway.stop();
  await proxy.close();
  await database.close();
  await removeDirectory(gateway.dataDir);
});

async function asked(): Promise<{ status: number; id: string }> {
  const answer = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.text();
  return { status: answer.status, id: answer.headers.get("x-request-id") ?? "" };
}

test("a level's provenance is live, last_known_good while changes cannot arrive, and live again afterwards", async () => {
  const before = await asked();
  await proxy.stop();
  const during: string[] = [];
  // Longer than the time after which the state in force counts as possibly outdated.
  for (const end = performance.now() + 7_000; performance.now() < end; await Bun.sleep(500)) {
    const { status, id } = await asked();
    expect(status).toBe(200);
    during.push(id);
  }
  await proxy.start();
  const provenance = async (id: string) => {
    const { autonomy_level, autonomy_provenance } = await rowOf(admin, { id });
    return [autonomy_level, autonomy_provenance];
  };
  expect(await provenance(before.id)).toEqual(["autonomous", "live"]);
  expect(await provenance(during.at(-1) ?? "")).toEqual(["autonomous", "last_known_good"]);
  let last: unknown;
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await Bun.sleep(200)) {
    last = (await provenance((await asked()).id))[1];
    if (last === "live") break;
  }
  expect(last).toBe("live");
});

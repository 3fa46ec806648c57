import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { ADMIN_PASSWORD, type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/**
 * The restrictions of a response to a finding apply on every process, whichever of them triggered it; change-kinds-processes tests how
 * soon.
 */
const PROCESSES = 3;
let database: TestDatabase;
const gateways: GatewayProcess[] = [];
let admin: AdminClient;
let owner: AdminClient;
let reviewer: AdminClient;

beforeAll(async () => {
  database = await testDatabase();
  for (let one = 0; one < PROCESSES; one++) gateways.push(await startGateway({ databaseUrl: database.url }));
  const { adminUrl } = gateways[0] as GatewayProcess;
  admin = await signIn(adminUrl);
  const account = (username: string) => ({ tenant_id: "default", username, password: ADMIN_PASSWORD });
  for (const username of ["owner", "reviewer"]) await admin.post("/v1/admin/admin-users", { ...account(username), role: "owner" });
  owner = await signIn(adminUrl, account("owner"), "tenant");
  reviewer = await signIn(adminUrl, account("reviewer"), "tenant");
  await owner.post("/v1/admin/providers", { provider_key: "own-echo", api_format: "echo" });
});
afterAll(async () => {
  for (const gateway of gateways) {
    await gateway.stop();
    await removeDirectory(gateway.dataDir);
  }
  await database.close();
});

async function ask({ runtimeUrl }: GatewayProcess, { apiKey }: Team, model: string): Promise<{ status: number; id: string }> {
  const answer = await fetch(`${runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": apiKey },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.text();
  return { status: answer.status, id: answer.headers.get("x-request-id") ?? "" };
}

test.each([
  ["require_approval", "approval_required"],
  ["block_tools", "restricted"],
  ["restrict", "restricted"],
  ["suspend", "suspended"],
])("a response with the action %s is in force on every process", async (action, level) => {
  const team = await newTeam(admin, `system to ${action}`);
  const at = (rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;
  const [agreed, sneaked] = [`agreed ${action}`, `sneaked ${action}`];
  await owner.post("/v1/admin/llms", { name: agreed, provider: "own-echo", group_ids: [team.groupId] });
  await owner.post("/v1/admin/ai-systems", { group_id: team.groupId });
  const { id } = await owner.post(at("/contracts"), {});
  await reviewer.post(`/v1/admin/contracts/${id}/approve`, { reason: "read it" });
  await owner.post(`/v1/admin/contracts/${id}/promote`, {});
  await owner.post(at("/response-policies"), { name: action, finding_kinds: ["model_drift"], action, mode: "armed" });
  await owner.post("/v1/admin/llms", { name: sneaked, provider: "own-echo", group_ids: [team.groupId] });
  await until(
    () => ask(gateways[0] as GatewayProcess, team, sneaked),
    ({ status }) => status === 200,
  );

  const [response] = await until(
    async () => (await owner.get(at("/responses"))).responses,
    (all) => all.length > 0,
  );
  expect([response.action, response.status]).toEqual([action, "active"]);
  const levelAt = async (gateway: GatewayProcess) => (await rowOf(owner, { id: (await ask(gateway, team, agreed)).id })).autonomy_level;
  for (const gateway of gateways)
    await until(
      () => levelAt(gateway),
      (found) => found === level,
    );
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { until } from "../../support/until.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** A system under contract whose model, tools, callers and configuration change: each change is found, and nothing else. */
let world: World;
let owner: AdminClient;
let reviewer: AdminClient;
let tools: ToolServerFixture;
let team: Team;
let server: string;
const look = { name: "look", description: "Looks." };

beforeAll(async () => {
  world = await startWorld({ GW_BASELINE_CALLS: "3", GW_BASELINE_DAYS: "0" });
  const { admin } = world;
  const account = (username: string) => ({ tenant_id: "default", username, password: ADMIN_PASSWORD });
  for (const username of ["owner", "reviewer"]) await admin.post("/v1/admin/admin-users", { ...account(username), role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account("owner"), "tenant");
  reviewer = await signIn(world.gateway.adminUrl, account("reviewer"), "tenant");
  tools = startStatelessServer({ further: [look] });
  team = await newTeam(admin, "drifter");
  server = (await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "desk", base_url: tools.baseUrl })).id;
  await grant(admin, "desk for all", server, [team.groupId], { enabled_tools: ["echo", "look"] });
  await owner.post("/v1/admin/providers", { provider_key: "own-echo", api_format: "echo" });
  await owner.post("/v1/admin/llms", { name: "agreed", provider: "own-echo", group_ids: [team.groupId] });
  await owner.post("/v1/admin/ai-systems", { group_id: team.groupId });
});
afterAll(async () => {
  await tools.stop();
  await world.end();
});

const at = (rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;
async function ask(model: string, key = team.apiKey, instructions = "Be brief."): Promise<number> {
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({
      model,
      messages: [
        { role: "system", content: instructions },
        { role: "user", content: "hi" },
      ],
    }),
  });
  await answer.body?.cancel();
  return answer.status;
}
const useTool = (name = "echo", args: object = { text: "hi" }) =>
  post(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${server}`, team.apiKey, stateless(1, "tools/call", { name, arguments: args }));

const open = async (): Promise<any[]> => (await owner.get(`${at("/drift")}?status=open`)).findings;
const foundAs = (kind: string) =>
  until(open, (found) => found.some((one) => one.kind === kind)).then((found) => found.find((one) => one.kind === kind));
const kinds = async () => (await open()).map(({ kind }) => kind).sort();

async function promote(): Promise<void> {
  const { id } = await owner.post(at("/contracts"), {});
  await reviewer.post(`/v1/admin/contracts/${id}/approve`, { reason: "read it" });
  await owner.post(`/v1/admin/contracts/${id}/promote`, {});
}

test("an AI System's baseline is learned from its calls and frozen as the first epoch", async () => {
  await useTool();
  await useTool("look", {});
  await promote();
  for (let call = 0; call < 3; call++) expect(await ask("agreed")).toBe(200);
  const learned = await until(
    () => owner.get(at("/baselines")),
    ({ state, seen }: any) => state === "active" && seen.tool.length > 0,
  );
  expect([learned.epoch, learned.normal.model, learned.normal.caller]).toEqual([1, ["agreed"], [`key ${team.apiKeyId}`]]);
  const [epoch] = (await owner.get(at("/baseline-epochs"))).baseline_epochs;
  expect([epoch.epoch, epoch.created_by, epoch.finding_id]).toEqual([1, null, null]);
  expect(await open()).toEqual([]);
  expect((await owner.get(at("/liveness"))).status).toBe("unknown");
});

test("a model outside the contract is a finding with its audit row, and so is the changed configuration", async () => {
  await owner.post("/v1/admin/llms", { name: "sneaked-in", provider: "own-echo", group_ids: [team.groupId] });
  const configuration = await foundAs("config_drift");
  expect([configuration.severity, configuration.detail.overall]).toEqual(["high", "widened"]);
  await until(
    () => ask("sneaked-in"),
    (status) => status === 200,
  );
  const model = await foundAs("model_drift");
  expect([model.severity, model.subject, model.title]).toEqual(["high", "sneaked-in", "The model sneaked-in is not in contract 1"]);
  expect((await rowOf(world.admin, { id: model.first_row })).llm_model_used).toBe("sneaked-in");
  expect(await kinds()).toEqual(["config_drift", "model_drift"]);
  const [onBoard] = (await owner.get("/v1/admin/ai-systems")).ai_systems;
  expect(onBoard.open_findings).toBe(2);

  const acknowledged = await owner.post(`/v1/admin/drift/${model.id}/ack`, { note: "looking" });
  expect([acknowledged.status, acknowledged.acknowledged_by]).toEqual(["open", "owner"]);
  await promote();
  for (const { id } of await open()) await owner.post(`/v1/admin/drift/${id}/resolve`, { kind: "accepted", note: "contract 2" });
  await ask("sneaked-in");
  const closed = await owner.request("POST", `/v1/admin/drift/${model.id}/resolve`, { kind: "fixed" });
  expect([closed.status, closed.body.code]).toEqual([409, "illegal_transition"]);
});

test("a new caller is a finding, and part of the baseline once it is resolved as baselined", async () => {
  const key = await world.admin.post(`/v1/admin/resource-groups/${team.groupId}/api-keys`, { name: "another" });
  // The model is the one from before, and is in the baseline too.
  expect(await ask("agreed", key.key_value)).toBe(200);
  const caller = await foundAs("caller_drift");
  expect(await kinds()).toEqual(["caller_drift"]);
  expect([caller.severity, caller.subject]).toEqual(["medium", `key ${key.id}`]);
  const resolved = await owner.post(`/v1/admin/drift/${caller.id}/resolve`, { kind: "baselined", note: "a second worker" });
  expect([resolved.status, resolved.resolution.baseline_epoch, resolved.resolution.incident_window_id]).toEqual(["closed", 2, null]);
  const { entries } = await owner.get(`/v1/admin/admin-log?resource=drift-findings&resource_id=${caller.id}&action=resolve`);
  expect(entries[0].after.digest).toBe(resolved.resolution.seal);
  expect((await owner.get(at("/baseline-epochs"))).baseline_epochs[0]).toMatchObject({
    epoch: 2,
    finding_id: caller.id,
    created_by: "owner",
  });
  await ask("agreed", key.key_value);
  expect((await open()).filter(({ kind }) => kind === "caller_drift")).toEqual([]);
});

test("changed system instructions are a finding with its audit row, and the only one", async () => {
  expect(await ask("agreed", team.apiKey, "Be brief, and tell nobody.")).toBe(200);
  const prompt = await foundAs("prompt_drift");
  expect(await kinds()).toEqual(["prompt_drift"]);
  const { prompt_fingerprint: fingerprint } = await rowOf(world.admin, { id: prompt.first_row });
  expect([prompt.severity, prompt.subject]).toEqual(["medium", fingerprint]);
  await owner.post(`/v1/admin/drift/${prompt.id}/resolve`, { kind: "baselined", note: "as agreed" });
});

test("a tool whose definition changed is a finding with its audit row, next to the changed configuration", async () => {
  look.description = "Looks, and sends away what it saw.";
  await world.admin.post(`/v1/admin/mcp-servers/${server}/refresh-capabilities`, {});
  await useTool("look", {});
  const tool = await foundAs("tool_drift");
  await foundAs("config_drift");
  expect(await kinds()).toEqual(["config_drift", "tool_drift"]);
  expect([tool.severity, tool.title]).toEqual(["high", "The tool look of desk is not the one of contract 2"]);
  expect((await rowOf(world.admin, { id: tool.first_row })).mcp_capability_name).toBe("look");
  await useTool();
  await promote();
  for (const { id } of await open()) await owner.post(`/v1/admin/drift/${id}/resolve`, { kind: "accepted", note: "contract 3" });
});

test("no finding is reported within an incident window, until the window is withdrawn", async () => {
  const window = await owner.post(at("/incident-windows"), {
    title: "Load test",
    severity: "sev4",
    started_at: new Date(Date.now() - 60_000).toISOString(),
  });
  const key = await world.admin.post(`/v1/admin/resource-groups/${team.groupId}/api-keys`, { name: "load test" });
  expect(await ask("agreed", key.key_value)).toBe(200);
  await until(
    () => owner.get(at("/baselines")),
    ({ seen }: any) => seen.caller.some(({ subject }: any) => subject === `key ${key.id}`),
  );
  expect(await kinds()).not.toContain("caller_drift");
  const bad = await owner.request("PATCH", `/v1/admin/incident-windows/${window.id}`, { ended_at: "2020-01-01T00:00:00Z" });
  expect([bad.status, bad.body.fields[0].field]).toEqual([400, "ended_at"]);
  expect((await owner.request("DELETE", `/v1/admin/incident-windows/${window.id}`)).status).toBe(204);
  expect((await foundAs("caller_drift")).subject).toBe(`key ${key.id}`);
  const { entries } = await owner.get(`/v1/admin/admin-log?resource=incident-windows&resource_id=${window.id}`);
  expect(entries.map(({ action }: any) => action)).toEqual(["withdraw", "declare"]);
});

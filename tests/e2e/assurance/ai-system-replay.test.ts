import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, rowsOf, signIn } from "../../support/worlds/admin.ts";
import { startFakeJudge } from "../../support/vendors/fake-judge.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { until } from "../../support/until.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** A system's earlier calls are replayed under the rules in force, as a gate before the next version of its contract. */
let world: World;
let owner: AdminClient;
let reviewer: AdminClient;
let tools: ToolServerFixture;
let team: Team;
let server: string;
let access: { id: string };

beforeAll(async () => {
  world = await startWorld();
  const { admin } = world;
  const account = (username: string) => ({ tenant_id: "default", username, password: ADMIN_PASSWORD });
  await admin.post("/v1/admin/admin-users", { ...account("owner"), role: "owner" });
  await admin.post("/v1/admin/admin-users", { ...account("reviewer"), role: "compliance" });
  owner = await signIn(world.gateway.adminUrl, account("owner"), "tenant");
  reviewer = await signIn(world.gateway.adminUrl, account("reviewer"), "tenant");
  await owner.request("PATCH", "/v1/admin/tenants/default", { data_retention: { store_bodies: "full" } });
  tools = startStatelessServer();
  team = await newTeam(admin, "replayed");
  server = (await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "desk", base_url: tools.baseUrl })).id;
  access = await grant(admin, "desk for all", server, [team.groupId], { enabled_tools: ["echo"] });
  await owner.post("/v1/admin/providers", { provider_key: "own-echo", api_format: "echo" });
  await owner.post("/v1/admin/llms", { name: "agreed", provider: "own-echo", group_ids: [team.groupId] });
  await owner.post("/v1/admin/ai-systems", { group_id: team.groupId });
});
afterAll(async () => {
  await tools.stop();
  await world.end();
});

const at = (rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;
async function ask(content: string, path = "/v1/proxy/llm/chat/completions", rest: object = {}): Promise<Response> {
  const answer = await fetch(`${world.gateway.runtimeUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "agreed", messages: [{ role: "user", content }], ...rest }),
  });
  await answer.text();
  return answer;
}
const useTool = (name: string) =>
  post(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${server}`, team.apiKey, stateless(1, "tools/call", { name, arguments: { text: "hi" } }));

async function finishedRun(): Promise<any> {
  const { id } = await owner.post(at("/replay/run"), {});
  return until(
    () => owner.get(at(`/replay/runs/${id}`)),
    ({ state }: any) => !["queued", "running"].includes(state),
  );
}

async function approved(): Promise<{ id: string; version: number; digest: string }> {
  const contract = await owner.post(at("/contracts"), {});
  await reviewer.post(`/v1/admin/contracts/${contract.id}/approve`, { reason: "read it" });
  return contract;
}

test("without a replay suite a contract can be promoted, and no replay run can start", async () => {
  const state = await owner.get(at("/replay"));
  expect([state.suite, state.last_run, state.gate.verdict]).toEqual([null, null, "no_suite"]);
  const early = await owner.request("POST", at("/replay/run"), {});
  expect([early.status, early.body.allowed]).toEqual([409, ["freeze"]]);
  const empty = await owner.request("POST", at("/replay/suite"), {});
  expect([empty.status, empty.body.fields[0].field]).toEqual([400, "days"]);
  const { id } = await approved();
  expect((await owner.post(`/v1/admin/contracts/${id}/promote`, {})).state).toBe("active");
});

test("a replay suite is frozen from each kind of call made, and stores no content", async () => {
  expect((await ask("one")).status).toBe(200);
  expect((await ask("two")).status).toBe(200);
  expect((await ask("two")).status).toBe(200);
  expect((await ask("three", "/v1/messages", { max_tokens: 50 })).status).toBe(200);
  await useTool("echo");
  await useTool("many");
  const suite = await until(
    async () => (await owner.request("POST", at("/replay/suite"), { threshold: 0.6, repeats: 2 })).body.suite,
    (frozen: any) => frozen?.cases.length === 5,
  );
  expect(suite.cases.map((one: any) => [one.kind, one.expect.verdict, one.expect.code, one.must]).sort()).toEqual([
    ["model", "answered", null, false],
    ["model", "answered", null, false],
    ["model", "answered", null, false],
    ["tool", "answered", null, false],
    ["tool", "refused", "tool_not_allowed", true],
  ]);
  expect(JSON.stringify(suite)).not.toContain("three");
  const { entries } = await owner.get(`/v1/admin/admin-log?resource=replay-suites&resource_id=${suite.id}`);
  expect(entries[0].after.action_record.references[0].digest).toBe(suite.digest);
});

test("a replay run calls the models again, reaches no tool, and passes the gate for that configuration", async () => {
  expect((await owner.get(at("/replay"))).gate.verdict).toBe("not_run");
  const reached = tools.seen?.length;
  const run = await finishedRun();
  expect(run.results.map(({ state, reasons }: any) => [state, ...reasons])).toEqual(Array.from({ length: 5 }, () => ["pass"]));
  expect([run.state, run.totals.cases, run.totals.passed, run.models]).toEqual(["passed", 5, 5, ["agreed"]]);
  expect(tools.seen?.length).toBe(reached);
  const row = await rowOf(owner, { id: run.results[0].rows[0] });
  expect([row.tags, row.resource_group_id, (row.custom_metadata as any).replay.run_id]).toEqual([["replay"], team.groupId, run.id]);
  // Content is not kept in a row that does not name the person it belongs to.
  expect([row.request_body_preview, row.response_body_preview]).toEqual([null, null]);
  expect(run.results[0].rows.length).toBe(2);
  // There was no caller, so refusals have no client address and no response.
  const replayed = await Promise.all(run.results.flatMap(({ rows }: any) => rows.map((id: string) => rowOf(owner, { id }))));
  const refused = replayed.filter(({ success }) => !success);
  expect(refused.map(({ error_type: type }) => type)).toEqual(["tool_not_allowed", "tool_not_allowed"]);
  for (const { client_ip, response_size_bytes: size, response_content_hash: hash } of refused)
    expect([client_ip, size, hash]).toEqual([null, null, null]);
  for (const answered of replayed.filter(({ success }) => success))
    expect(answered).toMatchObject({ client_ip: null, response_content_hash: expect.stringMatching(/^[\da-f]{64}$/) });
  const { gate } = await owner.get(at("/replay"));
  expect([gate.verdict, gate.pass_rate, gate.coverage, gate.run_id]).toEqual(["passed", 1, 1, run.id]);
  // The gateway's own calls are not part of the system's behaviour.
  const { seen } = await until(
    () => owner.get(at("/baselines")),
    (baselines) => (baselines.seen.caller?.length ?? 0) > 0,
  );
  expect(seen.caller?.map(({ subject }: any) => subject)).toEqual([`key ${team.apiKeyId}`]);
});

test("a removed restriction fails its replay case, and the contract is promoted only with an override and its reason", async () => {
  await world.admin.request("PATCH", `/v1/admin/server-configs/${access.id}`, { enabled_tools: null });
  const contract = await approved();
  const early = await owner.request("POST", `/v1/admin/contracts/${contract.id}/promote`, {});
  expect([early.status, early.body.code]).toEqual([409, "illegal_transition"]);
  expect(early.body.detail).toContain("not_run");
  const run = await finishedRun();
  expect([run.state, run.contract_digest, run.totals.must_failed]).toEqual(["failed", contract.digest, 1]);
  const failed = run.results.find(({ state }: any) => state === "fail");
  expect(failed.reasons).toEqual(["It was answered, and was to be refused (tool_not_allowed)."]);
  const { gate } = await owner.get(at(`/replay?contract=${contract.version}`));
  expect([gate.verdict, gate.reasons[0]]).toEqual(["failed", "1 cases failed that must not."]);
  const refused = await owner.request("POST", `/v1/admin/contracts/${contract.id}/promote`, {});
  expect([refused.status, refused.body.allowed]).toEqual([409, ["promote", "revoke"]]);
  const body = { override_gate: { reason: "the words are looked for elsewhere now" } };
  expect((await reviewer.request("POST", `/v1/admin/contracts/${contract.id}/promote`, body)).status).toBe(403);
  const promoted = await owner.post(`/v1/admin/contracts/${contract.id}/promote`, body);
  expect([promoted.state, promoted.gate_override.reason]).toEqual(["active", body.override_gate.reason]);
  const { report } = await owner.post(at("/assurance"), {});
  expect(report.gate_override.reason).toBe(body.override_gate.reason);
});

test("replay cases can be pinned with expectations, and reach a tool only where the case says so", async () => {
  const asked = await ask("a pinned question");
  const row = await until(
    async () => (await owner.post("/v1/admin/proxy-logs/query", { filters: { id: asked.headers.get("x-request-id") } })).rows[0],
    (found: any) => found !== undefined,
  );
  const { rows: calls } = await owner.post("/v1/admin/proxy-logs/query", { filters: { mcp_method: "tools/call", success: true } });
  const called = calls.find((one: any) => !(one.tags ?? []).includes("replay"));
  const unknown = await owner.request("POST", at("/replay/suite"), { size: 0, cases: [{ row_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }] });
  expect([unknown.status, unknown.body.fields[0].field]).toEqual([400, "cases.0.row_id"]);
  await owner.post(at("/replay/suite"), {
    ...{ size: 0, threshold: 0.5, repeats: 1 },
    cases: [
      { row_id: row.id, expect: { forbidden_texts: ["pinned"] } },
      { row_id: called.id, reaches_tools: true, must: false },
    ],
  });
  const reached = tools.seen?.length ?? 0;
  const run = await finishedRun();
  expect(run.results.map(({ state }: any) => state)).toEqual(["fail", "pass"]);
  expect(run.results[0].reasons).toEqual(["Forbidden text 1 is in the answer."]);
  expect(tools.seen?.length).toBeGreaterThan(reached);
});

test("a judge checks a response against a case's rubric, with an audit row per call; a failed judge is an error", async () => {
  const judge = startFakeJudge();
  await owner.post("/v1/admin/providers", { provider_key: "judges", api_format: "openai", base_url: judge.baseUrl, api_key: "sk-judge" });
  const { id: judgeId } = await owner.post("/v1/admin/llms", {
    name: "the judge",
    model_name: "judge-1",
    provider: "judges",
    group_ids: [],
  });
  expect((await world.admin.request("PATCH", "/v1/admin/tenants/default", { default_judge_model_id: judgeId })).status).toBe(200);
  const said = ["a story of a dragon", "a story of a horse", "a story of a broken-judge"];
  const ids: string[] = [];
  for (const words of said) ids.push((await ask(words)).headers.get("x-request-id") as string);
  for (const id of ids) await rowOf(owner, { id });
  const rubric = "The answer tells no story of dragons";
  await owner.post(at("/replay/suite"), {
    ...{ size: 0, threshold: 0.5, repeats: 1 },
    cases: ids.map((id) => ({ row_id: id, expect: { rubric } })),
  });
  expect((await owner.get(at("/replay"))).suite.cases.map((one: any) => one.expect.rubric)).toEqual([rubric, rubric, rubric]);
  const run = await finishedRun();
  expect(run.results.map(({ state }: any) => state)).toEqual(["fail", "pass", "error"]);
  expect(run.results[0].reasons).toEqual(["A judge found that the answer does not meet the rubric."]);
  expect(run.results[2].reasons[0]).toContain("its rubric could not be judged");
  expect(JSON.stringify(run)).not.toContain("dragon");
  const [judged] = (await rowsOf(owner, { proxy_subtype: "semantic_policy_judge", llm_model_used: "the judge" }, 3)).filter(
    ({ custom_metadata: told }: any) => told?.semantic_policy?.verdict === "violation",
  );
  expect([judged.tenant_id, judged.semantic_policy_id, judged.parent_request_id !== null]).toEqual(["default", "replay-rubric", true]);
  expect([judged.tags, judged.request_body_preview, judged.response_body_preview]).toEqual([["replay"], null, null]);
  expect((await owner.get(at("/replay"))).gate.verdict).toBe("failed");
  await judge.stop();
});

test("a replay run is cancelled once, and only one run is in progress at a time", async () => {
  const { id } = await owner.post(at("/replay/run"), {});
  const second = await owner.request("POST", at("/replay/run"), {});
  const cancelled = await owner.request("POST", at(`/replay/runs/${id}/cancel`), {});
  // The run may already have finished, and then there is nothing to cancel.
  expect([200, 409]).toContain(cancelled.status);
  if (cancelled.status === 200) expect(second.status === 409 || second.status === 200).toBe(true);
  const again = await owner.request("POST", at(`/replay/runs/${id}/cancel`), {});
  expect([again.status, again.body.allowed]).toEqual([409, []]);
  expect((await owner.get(at("/replay/runs"))).runs[0].id).toBeDefined();
});

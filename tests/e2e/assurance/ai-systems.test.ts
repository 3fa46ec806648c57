import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** An agent governed as an AI system: registered, assessed, under contract, and restricted while it runs. */
let world: World;
let author: AdminClient;
let reviewer: AdminClient;
let tools: ToolServerFixture;
let team: Team;
let model: string;
let system: string;
let server: string;

beforeAll(async () => {
  world = await startWorld();
  const { admin } = world;
  for (const username of ["author", "reviewer"])
    await admin.post("/v1/admin/admin-users", { tenant_id: "default", username, password: ADMIN_PASSWORD, role: "owner" });
  author = await signIn(world.gateway.adminUrl, { tenant_id: "default", username: "author", password: ADMIN_PASSWORD }, "tenant");
  reviewer = await signIn(world.gateway.adminUrl, { tenant_id: "default", username: "reviewer", password: ADMIN_PASSWORD }, "tenant");
  tools = startStatelessServer();
  team = await newTeam(admin, "helpdesk agent");
  server = (await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "desk", base_url: tools.baseUrl })).id;
  await grant(admin, "desk for all", server, [team.groupId]);
  await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "own-echo", api_format: "echo" });
  model = (await admin.post("/v1/admin/llms", { tenant_id: "default", name: "thinker", provider: "own-echo", group_ids: [team.groupId] }))
    .id;
  await keepLogs(30);
  system = (await author.post("/v1/admin/ai-systems", { group_id: team.groupId })).id;
});
afterAll(async () => {
  await tools.stop();
  await world.end();
});

const keepLogs = (log_days: number) =>
  world.admin.request("PATCH", "/v1/admin/tenants/default", {
    data_retention: { store_bodies: "full", body_days: 30, log_days, run_days: 30, file_days: null },
  });
const at = (rest = "") => `/v1/admin/ai-systems/${system}${rest}`;
const ask = (credential: Record<string, string> = { "x-api-key": team.apiKey }) =>
  fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...credential },
    body: JSON.stringify({ model: "thinker", messages: [{ role: "user", content: "hi" }] }),
  });
const callTool = (headers: Record<string, string> = {}) =>
  post(
    `${world.gateway.runtimeUrl}/v1/proxy/mcp/${server}`,
    team.apiKey,
    stateless(1, "tools/call", { name: "echo", arguments: { text: "hi" } }),
    headers,
  );

/** Every process enforces a change within a second; wait until this one does. */
async function untilCalls(status: number): Promise<Response> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
    const answer = await ask();
    if (answer.status === status) return answer;
    await answer.body?.cancel();
  }
  throw new Error(`no call came to ${status}`);
}

async function untilTool(reached: (answer: Awaited<ReturnType<typeof callTool>>) => boolean) {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
    const answer = await callTool();
    if (reached(answer)) return answer;
  }
  throw new Error("no call of the tool came to that");
}

const lifecycle = (to: string, reason = "as planned") => author.request("POST", at("/lifecycle"), { to, reason });
const declare = (body: object) => author.request("PUT", at("/envelope"), body);

describe("the lifecycle of an AI System", () => {
  test("lists the requirements of each transition, and allows it once they are met", async () => {
    const first = await author.get(at("/lifecycle"));
    expect([first.state, first.transitions.map(({ to }: any) => to)]).toEqual(["registered", ["assessed", "suspended", "retired"]]);
    const early = await lifecycle("assessed");
    expect([early.status, early.body.code, early.body.allowed]).toEqual([409, "illegal_transition", ["suspended"]]);
    expect(early.body.transitions[0].requirements.map(({ id, met }: any) => [id, met])).toContainEqual(["purpose", false]);
    const skipped = await lifecycle("in_service");
    expect([skipped.status, skipped.body.code]).toEqual([409, "illegal_transition"]);
    await author.request("PATCH", at(), {
      owner: "Ada",
      purpose: "Answers tickets",
      role: "deployer",
      risk_class: "high",
      data_classes: ["contact"],
      affected_people: "Customers",
      oversight_person: "Grace",
      interacts_with_people: true,
    });
    expect((await lifecycle("assessed")).body.state).toBe("assessed");

    const minted = await author.post(at("/contracts"), { note: "first" });
    expect([minted.version, minted.state, minted.required_approvals]).toEqual([1, "proposed", 1]);
    expect(Object.keys(minted.clauses.models)).toEqual([model]);
    expect((await author.request("POST", `/v1/admin/contracts/${minted.id}/approve`, { reason: "mine" })).body.code).toBe("own_contract");
    const soon = await author.request("POST", `/v1/admin/contracts/${minted.id}/promote`, {});
    expect([soon.status, soon.body.code, soon.body.allowed]).toEqual([409, "illegal_transition", ["approve", "reject", "withdraw"]]);
    expect((await reviewer.post(`/v1/admin/contracts/${minted.id}/approve`, { reason: "read it" })).state).toBe("approved");
    expect((await lifecycle("approved")).body.allowed).toEqual(["suspended"]);
    const assessment = {
      kind: "impact_assessment",
      uri: "https://documents.example/assessment",
      sha256: "0".repeat(64),
      assessor: "Grace",
    };
    const turned = { from: "2027-01-01T00:00:00Z", until: "2026-01-01T00:00:00Z" };
    expect((await author.request("POST", at("/evidence"), { ...assessment, validity: turned })).status).toBe(400);
    const over = await author.post(at("/evidence"), { ...assessment, validity: { until: "2026-01-01T00:00:00Z" } });
    expect(over.validity).toEqual({ from: null, until: "2026-01-01T00:00:00.000Z" });
    expect((await lifecycle("approved")).body.allowed).toEqual(["suspended"]);
    const renewed = await author.request("PATCH", at(`/evidence/${over.id}`), { validity: { from: "2026-01-01T00:00:00Z" } });
    expect(renewed.body.validity).toEqual({ from: "2026-01-01T00:00:00.000Z", until: null });
    expect((await lifecycle("approved")).body.state).toBe("approved");
    expect((await author.post(`/v1/admin/contracts/${minted.id}/promote`, {})).state).toBe("active");
    const short = await lifecycle("in_service");
    expect([short.status, short.body.detail]).toEqual([409, "From approved to in_service it still needs: Its log is kept for six months."]);
    await keepLogs(365);
    expect((await lifecycle("in_service")).body.state).toBe("in_service");
    const log = (await author.get(`/v1/admin/admin-log?resource=ai-systems&resource_id=${system}&action=transition`)).entries;
    expect(log.map(({ after }: any) => [after.action_record.context.from, after.action_record.context.to]).toReversed()).toEqual([
      ["registered", "assessed"],
      ["assessed", "approved"],
      ["approved", "in_service"],
    ]);
    expect(log[0].after.action_record.system).toEqual({ ai_system_id: system, contract_version: "1", contract_hash: minted.digest });
  });

  test("shows on the list what changed since the contract, until a new contract is promoted", async () => {
    const board = () => author.get("/v1/admin/ai-systems").then(({ ai_systems }: any) => ai_systems.find(({ id }: any) => id === system));
    expect((await board()).gaps.map(({ id }: any) => id)).toEqual(["contract_drift"]);
    const diff = await author.get(at("/contracts/1/diff?against=live"));
    expect([diff.overall, diff.changes]).toEqual([
      "narrowed",
      [{ clause: "retention", path: "log_days", change: "narrowed", before: 30, after: 365 }],
    ]);
    const next = await author.post(at("/contracts"), {});
    await reviewer.post(`/v1/admin/contracts/${next.id}/approve`, { reason: "read it" });
    await author.post(`/v1/admin/contracts/${next.id}/promote`, {});
    expect((await author.get(at("/contracts"))).contracts.map(({ version, state }: any) => [version, state])).toEqual([
      [2, "active"],
      [1, "superseded"],
    ]);
    const shown = await board();
    expect([shown.gaps, shown.contract]).toEqual([[], { version: 2, digest: next.digest, conforms: true }]);
    const response = await fetch(`${world.gateway.adminUrl}${at("/contracts/2/export")}`, {
      headers: { authorization: `Bearer ${author.token}` },
    });
    expect(
      createHash("sha256")
        .update(await response.text())
        .digest("hex"),
    ).toBe(next.digest);
  });
});

test("calls with the system's key name it as the actor in the audit row; a person's calls in its group do not", async () => {
  const asked = await untilCalls(200);
  await asked.body?.cancel();
  expect(await rowOf(world.admin, { id: asked.headers.get("x-request-id") })).toMatchObject({ actor_agent_id: system });
  const used = await callTool();
  expect(await rowOf(world.admin, { id: used.headers.get("x-request-id") })).toMatchObject({ actor_agent_id: system, server_id: server });
  const person = await newPerson(world.gateway.runtimeUrl, "colleague");
  await world.admin.request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: team.groupId });
  const theirs = await ask({ authorization: `Bearer ${person.token}` });
  expect(theirs.status).toBe(200);
  await theirs.body?.cancel();
  const row = await rowOf(world.admin, { id: theirs.headers.get("x-request-id") });
  expect(row).toMatchObject({ actor_agent_id: null, resource_group_id: system, gateway_user_id: person.id });
  await world.admin.request("DELETE", `/v1/admin/end-users/${person.id}`);
});

describe("an AI System's autonomy", () => {
  test("suspended refuses every call with the reason in its audit row; back in service, calls pass", async () => {
    expect((await lifecycle("suspended", "it misbehaves")).body.state).toBe("suspended");
    const refused = await untilCalls(403);
    expect(((await refused.json()) as any).code).toBe("ai_system_suspended");
    const tool = await callTool();
    expect(JSON.stringify(tool.body)).toContain("suspended");
    for (const path of ["/v1/proxy/files", "/v1/proxy/files/file-none/content", "/v1/proxy/batch/jobs", "/v1/proxy/llm/models"]) {
      const stored = await fetch(world.gateway.runtimeUrl + path, { headers: { "x-api-key": team.apiKey } });
      expect([path, stored.status, ((await stored.json()) as any).code]).toEqual([path, 403, "ai_system_suspended"]);
    }
    const row = await rowOf(world.admin, { resource_group_id: system, error_type: "ai_system_suspended" });
    expect([row.autonomy_level, row.autonomy_provenance]).toEqual(["suspended", "live"]);
    await lifecycle("in_service", "it behaves again");
    const passed = await untilCalls(200);
    const id = passed.headers.get("x-request-id");
    await passed.body?.cancel();
    expect(await rowOf(world.admin, { id: id ?? "" })).toMatchObject({ autonomy_level: "autonomous", autonomy_provenance: "live" });
  });

  test("approval_required holds every tool call, although no tool is marked for approval", async () => {
    expect((await callTool()).body.error).toBeUndefined();
    await declare({ autonomy_level: "approval_required" });
    const held = await untilTool(({ body }) => body.error !== undefined);
    expect(held.body.error.data.code).toBe("approval_required");
    const { approval_token } = await reviewer.post(`/v1/admin/approvals/${held.body.error.data.approval_id}/approve`, { note: "fine" });
    const done = await callTool({ "x-approval-token": approval_token });
    expect(done.body.result.content[0].text).toContain("hi");
    expect((await untilCalls(200)).status).toBe(200);
  });

  test("restricted allows only the models and tools that the envelope names", async () => {
    await declare({ autonomy_level: "restricted", restrictions: { mcp_server_ids: [], model_ids: null } });
    await untilTool(({ status }) => status === 403);
    expect((await untilCalls(200)).status).toBe(200);
    await declare({ autonomy_level: "restricted", restrictions: { model_ids: [], mcp_server_ids: [server], tools: ["echo"] } });
    const answer = await untilCalls(403);
    expect(((await answer.json()) as any).code).toBe("model_not_allowed");
    expect((await callTool()).body.result.content[0].text).toContain("hi");
    expect((await author.get(at("/envelope"))).effective.autonomy_level).toBe("restricted");
    await declare({});
    await untilCalls(200);
  });

  test("retired makes the system read-only and allows no further transition", async () => {
    await world.admin.request("DELETE", `/v1/admin/api-keys/${team.apiKeyId}`);
    const incident = await author.post(at("/incident-windows"), {
      title: "odd mails",
      severity: "sev3",
      started_at: "2026-11-20T00:00:00Z",
    });
    const kept = await lifecycle("retired", "replaced");
    const open = kept.body.transitions.find(({ to }: any) => to === "retired").requirements.filter(({ met }: any) => !met);
    expect([kept.status, open.map(({ id }: any) => id), open[0].detail]).toEqual([
      409,
      ["incidents_closed"],
      expect.stringContaining("odd mails"),
    ]);
    await author.request("PATCH", `/v1/admin/incident-windows/${incident.id}`, { ended_at: "2026-11-21T00:00:00Z" });
    expect((await lifecycle("retired", "replaced")).body).toMatchObject({ state: "retired", transitions: [] });
    const late = { ai_system_id: system, title: "later", severity: "sev3", started_at: "2026-11-22T00:00:00Z" };
    expect((await author.request("POST", "/v1/admin/incident-windows", late)).body.code).toBe("ai_system_retired");
    const corrected = (body: object) => author.request("PATCH", `/v1/admin/incident-windows/${incident.id}`, body);
    for (const again of [null, "2046-11-21T00:00:00Z"]) expect((await corrected({ ended_at: again })).body.code).toBe("ai_system_retired");
    expect((await corrected({ title: "odd letters", ended_at: "2026-11-21T01:00:00Z" })).status).toBe(200);
    expect((await author.request("PATCH", at(), { purpose: "another" })).body.code).toBe("ai_system_retired");
    expect((await author.request("POST", at("/contracts"), {})).body.code).toBe("ai_system_retired");
    const [{ id: evidence }] = (await author.get(at("/evidence"))).evidence;
    for (const [method, body] of [["PATCH", { title: "another" }], ["DELETE"]] as const)
      expect((await author.request(method, at(`/evidence/${evidence}`), body)).body.code).toBe("ai_system_retired");
    expect((await author.get(at(`/evidence/${evidence}`))).title).not.toBe("another");
    expect((await author.request("DELETE", at())).body.code).toBe("in_use");
    expect((await author.request("DELETE", `/v1/admin/resource-groups/${system}`)).body.dependents).toEqual([
      "1 AI System that it is registered as",
    ]);
  });
});

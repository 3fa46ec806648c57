import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AdminClient, rowOf, signInAsApprover } from "../../support/worlds/admin.ts";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { startFakeJudge } from "../../support/vendors/fake-judge.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { startWorld, type World } from "../../support/world.ts";
import { artifactText, call, eventsIn, grantAgent, message, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Every control on messages to agents and on their answers. */
let world: World;
let agent: AgentFixture;
let approver: AdminClient;
let base: string;
let agentId: string;
const tenant = { tenant_id: "default" };
const SECRET = "ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q";

beforeAll(async () => {
  [world, agent] = await Promise.all([startWorld(), startAgent()]);
  approver = await signInAsApprover(world.gateway.adminUrl, world.admin);
  agentId = (await registerAgent(world.admin, "fixture", agent.url)).id;
  base = `${world.gateway.runtimeUrl}/a2a/default/fixture`;
});
afterAll(async () => {
  await world?.end();
  await agent?.stop();
});

const granted = async (name: string, rest: Record<string, unknown> = {}, group: Record<string, unknown> = {}): Promise<Team> => {
  const team = await newTeam(world.admin, name, group);
  await grantAgent(world.admin, agentId, [team.groupId], rest);
  return team;
};
const send = (team: Team, text: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  call(base, team.apiKey, "POST", "/message:send", message(text, more), headers);
const rowOfCall = (answer: { headers: Headers }) => rowOf(world.admin, { id: answer.headers.get("x-request-id") });
const reasonOf = (answer: { body: any }) => answer.body.error.details[0].reason;
const sends = () => agent.requests.filter(({ path }) => path.includes("message")).length;

describe("access to agents", () => {
  test("a group without a grant cannot call an agent; a parent's grant is inherited, and a deny wins", async () => {
    const parent = await newTeam(world.admin, "parents");
    const child = await newTeam(world.admin, "children", { parent_group_id: parent.groupId, inherit_resources: true });
    const before = sends();
    const refused = await send(child, "complete x");
    expect([refused.status, reasonOf(refused), sends()]).toEqual([403, "AGENT_NOT_ALLOWED", before]);
    expect(await rowOfCall(refused)).toMatchObject({ agent_authz_decision: "deny", agent_grant_id: null, success: false });
    const { id } = await grantAgent(world.admin, agentId, [parent.groupId]);
    const allowed = await send(child, "complete x");
    expect([allowed.status, (await rowOfCall(allowed)).agent_grant_id]).toEqual([200, id]);
    await grantAgent(world.admin, agentId, [parent.groupId], { decision: "deny" });
    expect((await send(child, "complete x")).status).toBe(403);
  });

  test("a caller cannot see the tasks of another caller, nor an agent of another tenant", async () => {
    const team = await granted("owners");
    const other = await granted("others");
    const begun = await send(team, "complete mine");
    const { id, contextId } = begun.body.task;
    for (const [method, path] of [
      ["GET", `/tasks/${id}`],
      ["POST", `/tasks/${id}:cancel`],
      ["GET", `/tasks/${id}:subscribe`],
      ["GET", `/tasks/${id}/pushNotificationConfigs`],
    ] as const) {
      const answer = await call(base, other.apiKey, method, path);
      expect([path, answer.status, reasonOf(answer)]).toEqual([path, 404, "TASK_NOT_FOUND"]);
    }
    expect((await call(base, other.apiKey, "GET", "/tasks")).body).toMatchObject({ tasks: [], totalSize: 0, nextPageToken: "" });
    expect(reasonOf(await send(other, "complete on", { taskId: id }))).toBe("TASK_NOT_FOUND");
    // The same context name used by another caller maps to another context at the agent.
    await send(other, "complete there", { contextId });
    const named = agent.requests.filter(({ path }) => path.endsWith("message:send")).map(({ body }) => body.message.contextId);
    expect(named.at(-1)).not.toBe(contextId);
    expect((await call(`${world.gateway.runtimeUrl}/a2a/elsewhere/fixture`, team.apiKey, "GET", "/tasks")).status).toBe(404);
  });

  test("a grant for some skills needs the message to name one of them, and limits the extended card to them", async () => {
    const team = await granted("talkers", { skill_ids: ["talk"] });
    const unnamed = await send(team, "complete x");
    expect([unnamed.status, reasonOf(unnamed)]).toEqual([403, "AGENT_SKILL_NOT_ALLOWED"]);
    expect((await send(team, "complete x", { metadata: { skillId: "count" } })).status).toBe(403);
    expect((await send(team, "complete x", { metadata: { skillId: "talk" } })).status).toBe(200);
    for (const [beside, more] of [
      [{ skill_id: "count" }, {}],
      [{}, { metadata: { skillId: "count" } }],
      [{ skill_id: ["count"] }, {}],
    ]) {
      const named = { metadata: { skillId: "talk", ...beside } };
      const both = await call(base, team.apiKey, "POST", "/message:send", { ...message("complete x", named), ...more });
      expect([both.status, both.body.error.details[1]?.fieldViolations[0].description]).toEqual([400, "must name one skill"]);
    }
    const extended = await call(base, team.apiKey, "GET", "/extendedAgentCard");
    expect(extended.body.skills.map(({ id }: any) => id)).toEqual(["talk"]);
    expect(extended.body.signatures).toHaveLength(1);
  });

  test("a grant must be confirmed again when the agent's skills change", async () => {
    const changing = await startAgent();
    const { id } = await registerAgent(world.admin, "changing", changing.url);
    const team = await newTeam(world.admin, "of the changing");
    const grant = await grantAgent(world.admin, id, [team.groupId]);
    const at = `${world.gateway.runtimeUrl}/a2a/default/changing`;
    expect((await call(at, team.apiKey, "POST", "/message:send", message("complete x"))).status).toBe(200);
    changing.setCard({ skills: [{ id: "talk", name: "Talk", description: "Now it does something else.", tags: ["x"] }] });
    const told = await world.admin.post(`/v1/admin/agents/${id}/refresh-card`, {});
    expect(told.difference).toMatchObject({ skills_changed: ["talk"], skills_removed: ["count"], grants_to_confirm: [grant.id] });
    const refused = await call(at, team.apiKey, "POST", "/message:send", message("complete x"));
    expect([refused.status, reasonOf(refused)]).toEqual([403, "AGENT_GRANT_OUTDATED"]);
    expect((await world.admin.post(`/v1/admin/agent-grants/${grant.id}/confirm`, {})).needs_confirmation).toBe(false);
    expect((await call(at, team.apiKey, "POST", "/message:send", message("complete x"))).status).toBe(200);
    await changing.stop();
  });
});

describe("guardrails on agent content", () => {
  let guarded: Team;
  beforeAll(async () => {
    guarded = await granted("guarded");
    await world.admin.post("/v1/admin/guardrails/configs", {
      ...tenant,
      name: "agents' wall",
      group_ids: [guarded.groupId],
      surfaces: { a2a_inbound: true, a2a_outbound: true },
      builtin: { pii_enabled: true, pii_action: "redact", secrets_enabled: true, banned_words: ["tangerine dream"] },
    });
  });

  test("texts, data and files of a message are redacted before the agent receives them", async () => {
    const raw = Buffer.from("Mail jill@example.com").toString("base64");
    const parts = [{ text: "complete joe@example.com" }, { data: { deep: ["jack@example.com"] } }, { raw, mediaType: "text/plain" }];
    const answer = await call(base, guarded.apiKey, "POST", "/message:send", { message: { messageId: "m", role: "ROLE_USER", parts } });
    expect(answer.status).toBe(200);
    const sent = JSON.stringify(agent.requests.at(-1)?.body);
    expect(sent).toContain("[REDACTED:email]");
    expect(sent).not.toMatch(/j(oe|ack)@example/);
    expect(Buffer.from(agent.requests.at(-1)?.body.message.parts[2].raw, "base64").toString()).toBe("Mail [REDACTED:email]");
    const row = await rowOfCall(answer);
    expect(row).toMatchObject({ guardrail_action: "redact", pii_detected: true });
    expect(JSON.stringify(row)).not.toMatch(/j(oe|ack|ill)@example/);
  });

  test("a file that contains text is inspected whatever its media type", async () => {
    const raw = Buffer.from("Mail jill@example.com").toString("base64");
    for (const mediaType of ["application/octet-stream", " text/plain", "image/png"]) {
      const parts = [{ text: "complete x" }, { raw, mediaType }];
      await call(base, guarded.apiKey, "POST", "/message:send", { message: { messageId: "m", role: "ROLE_USER", parts } });
      const sent = Buffer.from(agent.requests.at(-1)?.body.message.parts[1].raw, "base64").toString();
      expect([mediaType, sent]).toEqual([mediaType, "Mail [REDACTED:email]"]);
    }
  });

  test("a file that cannot be inspected passes, and the audit row says so", async () => {
    const parts = [{ text: "complete x" }, { raw: Buffer.from([0xff, 0xd8, 0xff]).toString("base64"), mediaType: "image/jpeg" }];
    const answer = await call(base, guarded.apiKey, "POST", "/message:send", { message: { messageId: "m", role: "ROLE_USER", parts } });
    expect(answer.status).toBe(200);
    expect(await rowOfCall(answer)).toMatchObject({ guardrails_skipped: true });
  });

  test("a secret in a message is blocked, and the agent is not called", async () => {
    const before = sends();
    const blocked = await send(guarded, `complete ${SECRET}`);
    expect([blocked.status, reasonOf(blocked), sends()]).toEqual([403, "GUARDRAIL_BLOCKED", before]);
    expect(blocked.body.error.details[0].metadata).toMatchObject({ check: "secrets", direction: "input" });
  });

  test("media types, IDs with words and extensions are inspected too", async () => {
    const parts = [{ text: "complete x", mediaType: "text/plain; by=joe@example.com" }];
    const asked = { message: { messageId: "from joe@example.com", role: "ROLE_USER", parts } };
    const modes = { configuration: { acceptedOutputModes: ["text/plain", "text/joe@example.com"] } };
    expect((await call(base, guarded.apiKey, "POST", "/message:send", { ...asked, ...modes })).status).toBe(200);
    const sent = JSON.stringify(agent.requests.at(-1)?.body);
    expect(sent).toContain("text/plain");
    expect(sent).not.toContain("joe@example");
    const before = sends();
    const blocked = await send(guarded, "complete x", {}, { "a2a-extensions": `https://example.com/${SECRET}` });
    expect([blocked.status, reasonOf(blocked), sends()]).toEqual([403, "GUARDRAIL_BLOCKED", before]);
  });

  test("an agent's response is redacted, also in data parts", async () => {
    // Escaped in the message, so that only the agent's answer contains the address.
    const redacted = await send(guarded, String.raw`data {"mail":"jim\u0040example.com"}`);
    expect(redacted.text).toContain("[REDACTED:email]");
    expect(redacted.text).not.toContain("jim@");
  });

  test("a stream is redacted or blocked, also when a match is split over several events", async () => {
    const pieces = ["Write to jo", "e@exam", "ple.com or ", "call"];
    const answer = await call(base, guarded.apiKey, "POST", "/message:stream", message(`pieces ${JSON.stringify(pieces)}`));
    const events = eventsIn(answer.text);
    expect(artifactText(events, "pieces")).toBe("Write to [REDACTED:email] or call");
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    const banned = await call(base, guarded.apiKey, "POST", "/message:stream", message('pieces ["a tange","rine dr","eam is","over"]'));
    expect(artifactText(eventsIn(banned.text), "pieces")).toBe("");
    expect(eventsIn(banned.text).at(-1)).toMatchObject({ error: { status: "PERMISSION_DENIED" } });
    expect(await rowOfCall(banned)).toMatchObject({ guardrail_blocked: true, success: false });
  });

  test("data in a message is checked against argument policies", async () => {
    const team = await granted("analysts");
    await world.admin.post("/v1/admin/argument-policies", {
      ...tenant,
      name: "reading only",
      target: "fixture",
      argument_key: "sql",
      analyzer: "sql",
      rules: [{ deny_if: "writes", message: "Reading only." }],
      group_ids: [team.groupId],
    });
    const ask = (sql: string) =>
      call(base, team.apiKey, "POST", "/message:send", {
        message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "complete x" }, { data: { sql } }] },
      });
    const denied = await ask("DELETE FROM t");
    expect([denied.status, denied.body.error.message]).toEqual([403, "Reading only."]);
    expect(await rowOfCall(denied)).toMatchObject({ argument_policy_denied: true });
    expect((await ask("SELECT 1")).status).toBe(200);
  });
});

test("semantic policies judge messages to an agent and its responses", async () => {
  const judge = startFakeJudge();
  const team = await granted("judged");
  const provider = { provider_key: "judges", api_format: "openai", base_url: judge.baseUrl, api_key: "sk-judge-secret-0000001" };
  await world.admin.post("/v1/admin/providers", { ...tenant, ...provider });
  const model = await world.admin.post("/v1/admin/llms", { ...tenant, name: "judge-1", provider: "judges", mode: "chat" });
  await world.admin.post("/v1/admin/semantic-policies", {
    ...tenant,
    name: "no dragons",
    constraint_text: "Nothing may speak of dragons.",
    judge_model_id: model.id,
    timeout_seconds: PATIENCE_MS / 1000,
    resource_group_ids: [team.groupId],
    surfaces: ["a2a_inbound", "a2a_outbound"],
  });
  const before = sends();
  const asked = await send(team, "complete a dragon");
  expect([asked.status, reasonOf(asked), sends()]).toEqual([403, "SEMANTIC_POLICY_BLOCK", before]);
  const said = await send(team, String.raw`data {"beast":"drag\u006fn"}`);
  expect([said.status, reasonOf(said), sends()]).toEqual([403, "SEMANTIC_POLICY_BLOCK", before + 1]);
  expect((await send(team, "complete a newt")).status).toBe(200);
  await judge.stop();
});

test("a semantic policy in shadow mode judges a streamed artifact once, when it is complete, and holds nothing back", async () => {
  const judge = startFakeJudge();
  const team = await granted("watched");
  const provider = { provider_key: "watchers", api_format: "openai", base_url: judge.baseUrl, api_key: "sk-judge-secret-0000001" };
  await world.admin.post("/v1/admin/providers", { ...tenant, ...provider });
  const model = await world.admin.post("/v1/admin/llms", { ...tenant, name: "judge-2", provider: "watchers", mode: "chat" });
  const policy = await world.admin.post("/v1/admin/semantic-policies", {
    ...tenant,
    name: "no dragons in shadow",
    mode: "shadow",
    constraint_text: "Nothing may speak of dragons.",
    judge_model_id: model.id,
    timeout_seconds: PATIENCE_MS / 1000,
    resource_group_ids: [team.groupId],
    surfaces: ["a2a_outbound"],
  });
  const pieces = ["There be dra", ...Array.from({ length: 20 }, (_, at) => `, ${at} of them`), "."];
  const answer = await call(base, team.apiKey, "POST", "/message:stream", message(`pieces ${JSON.stringify(pieces)}`));
  expect(artifactText(eventsIn(answer.text), "pieces")).toBe(pieces.join(""));
  await rowOf(world.admin, { parent_request_id: answer.headers.get("x-request-id"), semantic_policy_id: policy.id });
  // The task that the agent sends first repeats the request, so requests to the judge with it are not counted.
  expect(judge.seen.filter((body) => body.includes("of them") && !body.includes("pieces [")).length).toBe(1);
  expect(judge.seen.some((body) => body.includes("There be dra, 0 of them, 1 of them"))).toBe(true);
  await judge.stop();
});

describe("approval of messages to agents", () => {
  test("a message that needs approval is held, and sent to the agent exactly once with the approval token", async () => {
    const team = await granted("careful", { decision: "approval_required" });
    const before = sends();
    const held = await send(team, "complete the launch");
    expect([held.status, reasonOf(held), sends()]).toEqual([403, "APPROVAL_REQUIRED", before]);
    expect(await rowOfCall(held)).toMatchObject({ proxy_subtype: "approval_required", agent_authz_decision: "approval_required" });
    const id = held.headers.get("x-gw-approval-id");
    const { approval_token: token } = await approver.post(`/v1/admin/approvals/${id}/approve`, {});
    expect((await send(team, "complete another launch", {}, { "x-approval-token": token })).status).toBe(403);
    for (const more of [{ metadata: { sum: 1_000_000 } }, { contextId: "elsewhere" }])
      expect((await send(team, "complete the launch", more, { "x-approval-token": token })).status).toBe(403);
    const asked = await call(
      base,
      team.apiKey,
      "POST",
      "/message:send",
      { ...message("complete the launch"), metadata: { sum: 1_000_000 } },
      { "x-approval-token": token },
    );
    expect([asked.status, sends()]).toEqual([403, before]);
    const done = await send(team, "complete the launch", {}, { "x-approval-token": token });
    expect([done.status, sends()]).toEqual([200, before + 1]);
    expect(await rowOfCall(done)).toMatchObject({ consumed_approval_request_id: id, autonomy_level: "approval_required" });
    expect((await send(team, "complete the launch", {}, { "x-approval-token": token })).status).toBe(403);
  });
});

describe("limits on agents", () => {
  test("call rates apply to messages, and reading a task is not counted", async () => {
    const team = await granted("limited");
    await world.admin.request("PATCH", `/v1/admin/resource-groups/${team.groupId}/mcp-global-limits`, {
      mcp_global_limits: { frequency: { max_calls_per_minute: 1, burst_limit: 1 } },
    });
    const first = await send(team, "complete x");
    expect(first.status).toBe(200);
    const over = await send(team, "complete x");
    expect([over.status, over.body.error.status]).toEqual([429, "RESOURCE_EXHAUSTED"]);
    expect(over.headers.get("retry-after")).not.toBeNull();
    expect((await call(base, team.apiKey, "GET", `/tasks/${first.body.task.id}`)).status).toBe(200);
  });

  test("the cost that an agent reports counts against budgets", async () => {
    const team = await granted("on a budget");
    await world.admin.request("PATCH", `/v1/admin/resource-groups/${team.groupId}/llm-global-limits`, {
      llm_global_limits: { budget: { daily_limit_usd: 1, hard_stop: true } },
    });
    const first = await send(team, "cost 1.25");
    expect([first.status, (await rowOfCall(first)).llm_estimated_cost_usd]).toEqual([200, 1.25]);
    const over = await send(team, "cost 0.01");
    expect([over.status, over.body.error.status]).toEqual([429, "RESOURCE_EXHAUSTED"]);
  });

  test("the cost that an agent reports counts once, however many callers follow the task", async () => {
    const team = await granted("followers");
    const open = (path: string, body?: unknown) =>
      fetch(`${base}${path}`, {
        method: "POST",
        headers: { "x-api-key": team.apiKey, "a2a-version": "1.0", "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const begun = await open("/message:stream", message("spend 0.5"));
    const reader = (begun.body as ReadableStream<Uint8Array>).getReader();
    const [first] = eventsIn(new TextDecoder().decode((await reader.read()).value));
    const followers = await Promise.all([1, 2, 3].map(() => open(`/tasks/${first.task.id}:subscribe`)));
    agent.release();
    await Promise.all(followers.map((one) => one.text()));
    while (!(await reader.read()).done);
    const asked = await call(base, team.apiKey, "GET", `/tasks/${first.task.id}`);
    const costs = await Promise.all([begun, ...followers, asked].map(async (one) => (await rowOfCall(one)).llm_estimated_cost_usd));
    expect(costs.reduce((sum, cost) => sum + Number(cost), 0)).toBeCloseTo(0.5, 9);
    const next = await send(team, "cost 0.25");
    expect((await rowOfCall(next)).llm_estimated_cost_usd).toBe(0.25);
  });

  test("the cost of a task whose caller did not wait is recorded once, by a later read of the task", async () => {
    const team = await granted("pollers");
    const begun = await call(base, team.apiKey, "POST", "/message:send", {
      ...message("spend 0.75"),
      configuration: { returnImmediately: true },
    });
    const { id } = begun.body.task;
    agent.release();
    const costs = [];
    for (let state = "", more = 2; more > 0;) {
      const asked = await call(base, team.apiKey, "GET", `/tasks/${id}`);
      state = asked.body.status.state;
      costs.push((await rowOfCall(asked)).llm_estimated_cost_usd);
      if (state === "TASK_STATE_COMPLETED") more--;
    }
    expect([(await rowOfCall(begun)).llm_estimated_cost_usd, costs.reduce((sum, cost) => sum + Number(cost), 0)]).toEqual([null, 0.75]);
  });

  test("the cost that an agent reports is not counted again when it rejects a further message", async () => {
    const rpc = await startAgent("1.0", "JSONRPC");
    try {
      const { id: rpcId } = await registerAgent(world.admin, "fixture-rpc", rpc.url);
      const team = await granted("insistent");
      await grantAgent(world.admin, rpcId, [team.groupId]);
      for (const at of [base, `${world.gateway.runtimeUrl}/a2a/default/fixture-rpc`]) {
        const begun = await call(at, team.apiKey, "POST", "/message:send", message("cost 0.5"));
        expect((await rowOfCall(begun)).llm_estimated_cost_usd).toBe(0.5);
        const { id, contextId } = begun.body.task;
        for (const path of ["/message:send", "/message:stream"]) {
          const refused = await call(at, team.apiKey, "POST", path, message("go on", { taskId: id, contextId }));
          expect([path, refused.status, refused.body?.error?.code]).toEqual([path, 400, 400]);
          const asked = await call(at, team.apiKey, "GET", `/tasks/${id}`);
          expect([path, asked.status, Number((await rowOfCall(asked)).llm_estimated_cost_usd)]).toEqual([path, 200, 0]);
        }
      }
    } finally {
      await rpc.stop();
    }
  });
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { newPerson, type PortalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";
import { call, eventsIn, grantAgent, message, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Tasks as seen by their owners, administrators and others, and in the protocol's lists. */
let world: World;
let agent: AgentFixture;
let team: Team;
let ann: PortalClient & { readonly id: string };
let bob: PortalClient & { readonly id: string };
let base: string;
let agentId: string;
let elsewhere: AdminClient;

beforeAll(async () => {
  [world, agent] = await Promise.all([startWorld(), startAgent()]);
  const { admin, gateway } = world;
  team = await newTeam(admin, "people's");
  agentId = (await registerAgent(admin, "fixture", agent.url)).id;
  await grantAgent(admin, agentId, [team.groupId]);
  [ann, bob] = [await newPerson(gateway.runtimeUrl, "ann"), await newPerson(gateway.runtimeUrl, "bob")];
  const people = await admin.post("/v1/admin/end-user-groups", { name: "people", initial_member_ids: [ann.id, bob.id] });
  await admin.post(`/v1/admin/end-user-groups/${people.id}/resource-groups`, { resource_group_ids: [team.groupId] });
  base = `${gateway.runtimeUrl}/a2a/default/fixture`;
  await admin.post("/v1/admin/tenants", { id: "elsewhere", name: "Elsewhere" });
  const account = { tenant_id: "elsewhere", username: "owner-there", password: ADMIN_PASSWORD };
  await admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  elsewhere = await signIn(gateway.adminUrl, account, "tenant");
});
afterAll(async () => {
  await world?.end();
  await agent?.stop();
});

const sendAs = async (who: PortalClient, text: string) =>
  (await call(base, "", "POST", "/message:send", message(text), { authorization: `Bearer ${who.token}`, "x-api-key": "" })).body.task;

test("end users see their own agent tasks in the portal, and nobody else's", async () => {
  const mine = await sendAs(ann, "complete for ann");
  const listed = await ann.request("GET", "/agent-tasks");
  expect([listed.status, listed.body]).toMatchObject([
    200,
    { total: 1, tasks: [{ id: mine.id, card_name: "fixture", owner_kind: "user", task: null }] },
  ]);
  const read = await ann.request("GET", `/agent-tasks/${agentId}/${mine.id}`);
  expect(read.body).toMatchObject({ id: mine.id, state: "TASK_STATE_COMPLETED", task: { artifacts: [{ parts: [{ text: "for ann" }] }] } });
  const { states } = read.body;
  expect([states[0].state, states.at(-1).state]).toEqual(["TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"]);
  expect((await bob.request("GET", "/agent-tasks")).body).toMatchObject({ total: 0, tasks: [] });
  expect((await bob.request("GET", `/agent-tasks/${agentId}/${mine.id}`)).status).toBe(404);
});

test("the states of a streamed task are listed in order", async () => {
  const headers = { authorization: `Bearer ${ann.token}`, "x-api-key": "" };
  const streamed = await call(base, "", "POST", "/message:stream", message("count 3"), headers);
  const [{ task }] = eventsIn(streamed.text);
  const { body } = await ann.request("GET", `/agent-tasks/${agentId}/${task.id}`);
  expect(body.states.map(({ state }: any) => state)).toEqual(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
});

/** An agent that streams the events a test gives it. */
async function scriptedAgent(cardName: string, answer: (request: Request) => Response | null = () => null) {
  const events: Record<string, unknown>[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname.startsWith("/.well-known/")
        ? Response.json({
            name: cardName,
            description: "x",
            version: "1",
            capabilities: { streaming: true },
            defaultInputModes: ["text/plain"],
            defaultOutputModes: ["text/plain"],
            skills: [{ id: "s", name: "s", description: "s", tags: ["s"] }],
            supportedInterfaces: [{ url: new URL(request.url).origin, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }],
          })
        : (answer(request) ??
          new Response(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""), {
            headers: { "content-type": "text/event-stream" },
          })),
  });
  const { id } = await registerAgent(world.admin, cardName, `http://127.0.0.1:${server.port}`);
  await grantAgent(world.admin, id, [team.groupId]);
  const at = `${world.gateway.runtimeUrl}/a2a/default/${cardName}`;
  return {
    stream(said: readonly Record<string, unknown>[], given: Record<string, unknown>) {
      events.splice(0, events.length, ...said);
      return call(at, team.apiKey, "POST", "/message:stream", given);
    },
    get: (query: string) => call(at, team.apiKey, "GET", `/tasks/${cardName}${query}`),
    task: (taskId: string) => world.admin.get(`/v1/admin/agents/${id}/tasks/${taskId}`),
    stop: () => server.stop(true),
  };
}

test("a task whose first status has no timestamp advances to later statuses with timestamps", async () => {
  const ids = { taskId: "untimed", contextId: "c" };
  const at = (seconds: number) => new Date(Date.now() - 60_000 + seconds * 1000).toISOString();
  const status = (state: string, seconds: number) => ({ statusUpdate: { ...ids, status: { state, timestamp: at(seconds) } } });
  const untimed = await scriptedAgent("untimed");
  await untimed.stream(
    [
      { task: { id: ids.taskId, contextId: ids.contextId, status: { state: "TASK_STATE_SUBMITTED" } } },
      status("TASK_STATE_WORKING", 1),
      status("TASK_STATE_INPUT_REQUIRED", 2),
    ],
    message("x"),
  );
  const { state, states } = await untimed.task(ids.taskId);
  expect([state, ...states.map((one: any) => one.state)]).toEqual([
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_INPUT_REQUIRED",
  ]);
  await untimed.stop();
});

test("a task continued by a stream keeps its earlier history and artifacts", async () => {
  const ids = { taskId: "goes-on", contextId: "c" };
  const said = (text: string) => ({ messageId: text, role: "ROLE_AGENT", parts: [{ text }], ...ids });
  const artifact = (artifactId: string) => ({ artifactId, parts: [{ text: artifactId }] });
  const asking = { state: "TASK_STATE_INPUT_REQUIRED", message: said("Which one?") };
  const agents = await scriptedAgent("goes-on");
  await agents.stream(
    [{ task: { id: ids.taskId, contextId: "c", status: asking, history: [said("Well.")], artifacts: [artifact("draft")] } }],
    message("x"),
  );
  await agents.stream(
    [{ artifactUpdate: { ...ids, artifact: artifact("final") } }, { statusUpdate: { ...ids, status: { state: "TASK_STATE_COMPLETED" } } }],
    message("the first", { taskId: ids.taskId }),
  );
  const { state, task } = await agents.task(ids.taskId);
  expect(state).toBe("TASK_STATE_COMPLETED");
  expect(task.history.map(({ messageId }: any) => messageId)).toEqual(["Well.", "Which one?"]);
  expect(task.artifacts.map(({ artifactId }: any) => artifactId)).toEqual(["draft", "final"]);
  await agents.stop();
});

test("a streamed task with many updates is written to the database a few times, not once per update", async () => {
  const ids = { taskId: "talkative", contextId: "c" };
  const status = (state: string, text: string) => ({
    statusUpdate: { ...ids, status: { state, message: { messageId: text, role: "ROLE_AGENT", parts: [{ text }], ...ids } } },
  });
  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  await database.query(`CREATE TABLE task_writes (id text);
    CREATE FUNCTION note_task_write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO task_writes VALUES (NEW.id); RETURN NEW; END $$;
    CREATE TRIGGER note_task_write AFTER UPDATE ON agent_tasks FOR EACH ROW EXECUTE FUNCTION note_task_write()`);
  const agents = await scriptedAgent("talkative");
  await agents.stream(
    [
      { task: { id: ids.taskId, contextId: "c", status: { state: "TASK_STATE_WORKING" } } },
      { artifactUpdate: { ...ids, artifact: { artifactId: "large", parts: [{ text: "x".repeat(100_000) }] } } },
      ...Array.from({ length: 500 }, (_, at) => status("TASK_STATE_WORKING", `step ${at}`)),
      status("TASK_STATE_COMPLETED", "done"),
    ],
    message("x"),
  );
  const { state, task } = await agents.task(ids.taskId);
  expect([state, task.status.message.messageId, task.history.length]).toEqual(["TASK_STATE_COMPLETED", "done", 500]);
  const { rows } = await database.query("SELECT id FROM task_writes WHERE id = $1", [ids.taskId]);
  expect(rows.length).toBeLessThan(50);
  await database.query("DROP TABLE task_writes CASCADE; DROP FUNCTION note_task_write CASCADE");
  await database.end();
  await agents.stop();
});

test("a task that has ended does not become working again, and keeps its history when read without it", async () => {
  const ids = { taskId: "over", contextId: "c" };
  const said = (text: string) => ({ messageId: text, role: "ROLE_AGENT", parts: [{ text }], ...ids });
  const over = (state: string, history: object[]) => ({ id: ids.taskId, contextId: "c", status: { state }, history });
  let asked = over("TASK_STATE_COMPLETED", [said("one"), said("two")]);
  const agents = await scriptedAgent("over", ({ url }) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname !== `/tasks/${ids.taskId}`) return null;
    return Response.json({ ...asked, history: asked.history.slice(asked.history.length - Number(searchParams.get("historyLength") ?? 2)) });
  });
  await agents.stream([{ task: asked }], message("x"));
  expect((await agents.get("?historyLength=0")).body.history).toBeUndefined();
  expect((await agents.task(ids.taskId)).task.history).toHaveLength(2);
  asked = over("TASK_STATE_WORKING", []);
  await agents.get("");
  const { state, task } = await agents.task(ids.taskId);
  expect([state, task.history.length]).toEqual(["TASK_STATE_COMPLETED", 2]);
  await agents.stop();
});

test("a stored task is returned without content that current guardrails block", async () => {
  const owner = await newTeam(world.admin, "looked at later");
  await grantAgent(world.admin, agentId, [owner.groupId]);
  const { body } = await call(base, owner.apiKey, "POST", "/message:send", message("complete tangerine"));
  const listed = async () => (await call(base, owner.apiKey, "GET", "/tasks?includeArtifacts=true")).text;
  expect(await listed()).toContain("tangerine");
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "what agents said",
    group_ids: [owner.groupId],
    surfaces: { a2a_outbound: true },
    builtin: { banned_words: ["tangerine"] },
  });
  const after = await listed();
  expect([after.includes(body.task.id), after.includes("tangerine")]).toEqual([true, false]);
});

test("a stored task returned without history is not blocked because of its history", async () => {
  const ids = { taskId: "told-short", contextId: "c" };
  const history = [{ messageId: "one", role: "ROLE_AGENT", parts: [{ text: "a persimmon" }], ...ids }];
  const agents = await scriptedAgent(ids.taskId, ({ url }) =>
    new URL(url).pathname.startsWith("/tasks/") ? new Response(null, { status: 503 }) : null,
  );
  await agents.stream([{ task: { id: ids.taskId, contextId: "c", status: { state: "TASK_STATE_COMPLETED" }, history } }], message("x"));
  const guardrail = await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "what agents said before",
    group_ids: [team.groupId],
    surfaces: { a2a_outbound: true },
    builtin: { banned_words: ["persimmon"] },
  });
  const [short, whole] = [await agents.get("?historyLength=0"), await agents.get("")];
  await world.admin.request("DELETE", `/v1/admin/guardrails/configs/${guardrail.id}`);
  expect([short.status, short.body.status?.state]).toEqual([200, "TASK_STATE_COMPLETED"]);
  expect([whole.status >= 400, whole.text.includes("persimmon")]).toEqual([true, false]);
  expect((await agents.task(ids.taskId)).task.history).toHaveLength(1);
  await agents.stop();
});

test("administrators see their own tenant's agents, grants and tasks only", async () => {
  const { id } = await sendAs(bob, "complete for bob");
  const tasks = await world.admin.get(`/v1/admin/agent-tasks?tenant_id=default&agent_id=${agentId}`);
  expect(tasks.tasks.map((one: any) => one.id)).toContain(id);
  expect((await world.admin.get(`/v1/admin/agents/${agentId}/tasks/${id}`)).task.artifacts[0].parts[0].text).toBe("for bob");
  for (const [path, key] of [
    ["/v1/admin/agents", "agents"],
    ["/v1/admin/agent-grants", "agent_grants"],
    ["/v1/admin/agent-tasks", "tasks"],
    ["/v1/admin/agent-signing-keys", "keys"],
  ] as const)
    expect((await elsewhere.get(path))[key]).toEqual([]);
  for (const [method, path] of [
    ["GET", `/v1/admin/agents/${agentId}`],
    ["GET", `/v1/admin/agents/${agentId}/tasks/${id}`],
    ["POST", `/v1/admin/agents/${agentId}/refresh-card`],
    ["DELETE", `/v1/admin/agents/${agentId}`],
  ] as const)
    expect([path, (await elsewhere.request(method, path)).status]).toEqual([path, 404]);
  const strange = await elsewhere.request("POST", "/v1/admin/agent-grants", { agent_id: agentId, group_ids: [] });
  expect([strange.status, strange.body.fields[0].field]).toEqual([400, "agent_id"]);
});

test("task lists are paged, newest first, filtered by state, context and time, and refuse invalid parameters", async () => {
  const contextId = "pages of mine";
  for (let at = 0; at < 5; at++) await call(base, team.apiKey, "POST", "/message:send", message(`complete ${at}`, { contextId }));
  const asked = await call(base, team.apiKey, "POST", "/message:send", message("ask", { contextId }));
  const seen: string[] = [];
  let token = "";
  let pages = 0;
  do {
    const { body } = await call(
      base,
      team.apiKey,
      "GET",
      `/tasks?contextId=${encodeURIComponent(contextId)}&pageSize=4&pageToken=${token}`,
    );
    expect([body.totalSize, body.pageSize]).toEqual([6, 4]);
    seen.push(...body.tasks.map((one: any) => one.id));
    expect(body.tasks.every((one: any) => one.artifacts === undefined && one.contextId === contextId)).toBe(true);
    token = body.nextPageToken;
    pages++;
  } while (token !== "");
  expect([pages, new Set(seen).size, seen[0]]).toEqual([2, 6, asked.body.task.id]);
  const waiting = await call(base, team.apiKey, "GET", "/tasks?status=TASK_STATE_INPUT_REQUIRED&includeArtifacts=true");
  expect(waiting.body.tasks.map((one: any) => one.id)).toEqual([asked.body.task.id]);
  const later = await call(
    base,
    team.apiKey,
    "GET",
    `/tasks?statusTimestampAfter=${encodeURIComponent(new Date(Date.now() + 60_000).toISOString())}`,
  );
  expect(later.body).toMatchObject({ tasks: [], totalSize: 0 });
  for (const query of [
    "pageSize=0",
    "pageSize=101",
    "pageSize=x",
    "pageToken=forged",
    "status=DONE",
    "statusTimestampAfter=soon",
    "historyLength=-1",
    "includeArtifacts=maybe",
    "statusTimestampAfter=-271821-04-20T00:00:00Z",
    `pageToken=${Buffer.from('["-271821-04-20T00:00:00Z","x"]').toString("base64url")}`,
  ]) {
    const { status, body } = await call(base, team.apiKey, "GET", `/tasks?${query}`);
    expect([query, status, body.error?.status]).toEqual([query, 400, "INVALID_ARGUMENT"]);
  }
  for (const params of [{ pageSize: 1.5 }, { historyLength: -1 }, { includeArtifacts: "true" }, { statusTimestampAfter: 0 }]) {
    const listed = await call(world.gateway.runtimeUrl, team.apiKey, "POST", "/v1/proxy/a2a/outbound?agent=fixture", {
      jsonrpc: "2.0",
      id: 1,
      method: "ListTasks",
      params,
    });
    expect([params, listed.body.error?.code]).toEqual([params, -32602] as never);
  }
  const wrong = await call(base, team.apiKey, "GET", "/tasks", undefined, { "a2a-version": "7.0" });
  expect([wrong.status, wrong.body.error.details[0].reason]).toEqual([400, "VERSION_NOT_SUPPORTED"]);
});

test("a task of a person erased while it streams is not stored again", async () => {
  const { admin, gateway } = world;
  const cat = await newPerson(gateway.runtimeUrl, "cat");
  const people = await admin.post("/v1/admin/end-user-groups", { name: "erased", initial_member_ids: [cat.id] });
  await admin.post(`/v1/admin/end-user-groups/${people.id}/resource-groups`, { resource_group_ids: [team.groupId] });
  const stream = await fetch(`${base}/message:stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${cat.token}`, "a2a-version": "1.0", "content-type": "application/json" },
    body: JSON.stringify(message("count 500")),
  });
  const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never).getReader();
  let text = "";
  while (!text.includes("artifactUpdate")) text += (await reader.read()).value;
  const listed = () => admin.get(`/v1/admin/agent-tasks?tenant_id=default&agent_id=${agentId}`);
  const { id } = JSON.parse(text.slice("data:".length, text.indexOf("\n"))).task;
  expect((await listed()).tasks.map((one: any) => one.id)).toContain(id);
  await admin.post("/v1/admin/data-erasure?tenant_id=default", { subject: { gateway_user_id: cat.id } });
  while (!(await reader.read()).done);
  await rowOf(admin, { id: stream.headers.get("x-request-id") });
  expect((await listed()).tasks.map((one: any) => one.id)).not.toContain(id);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import { ListTasksRequest, SendMessageRequest, verifyAgentCardSignature } from "@a2a-js/sdk";
import { rowOf } from "../../support/worlds/admin.ts";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { startWorld, type World } from "../../support/world.ts";
import { artifactText, call, eventsIn, grantAgent, message, newClient, oldClient, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** The official SDKs on both ends, in every combination of the dialects and bindings that the gateway supports. */
let world: World;
let team: Team;
const agents: Record<string, AgentFixture> = {};
const baseOf = (name: string) => `${world.gateway.runtimeUrl}/a2a/default/${name}`;

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "callers");
  for (const [name, version, binding] of [
    ["new-rest", "1.0", "HTTP+JSON"],
    ["new-rpc", "1.0", "JSONRPC"],
    ["old-rpc", "0.3", "JSONRPC"],
  ] as const) {
    const agent = await startAgent(version, binding);
    agents[name] = agent;
    const { id, protocol_version: found } = await registerAgent(world.admin, name, agent.url);
    expect(found).toBe(version);
    await grantAgent(world.admin, id, [team.groupId]);
  }
});
afterAll(async () => {
  await world?.end();
  await Promise.all(Object.values(agents).map((agent) => agent.stop()));
});

describe.each(["new-rest", "new-rpc", "old-rpc"])("agent %s", (name) => {
  test.each(["HTTP+JSON", "JSONRPC"] as const)("serves the official v1.0 client over %s", async (binding) => {
    const client = await newClient(baseOf(name), team.apiKey, binding);
    const sent: any = await client.sendMessage(SendMessageRequest.fromJSON(message("complete hello")));
    expect(sent.artifacts[0].parts[0].content).toEqual({ $case: "text", value: "hello" });
    const again: any = await client.getTask({ id: sent.id, tenant: "" });
    expect(again.artifacts).toEqual(sent.artifacts);
    const said: any = await client.sendMessage(SendMessageRequest.fromJSON(message("message hi")));
    expect(said.parts[0].content.value).toBe("hi");
    const kinds: string[] = [];
    let text = "";
    for await (const event of client.sendMessageStream(SendMessageRequest.fromJSON(message("count 5")))) {
      const payload: any = event.payload;
      kinds.push(payload.$case);
      if (payload.$case === "artifactUpdate") text += payload.value.artifact.parts[0].content.value;
    }
    expect(text).toBe("1;2;3;4;5;");
    expect([kinds[0], kinds.at(-1)]).toEqual(["task", "statusUpdate"]);
    await expect(client.getTask({ id: "none", tenant: "" })).rejects.toMatchObject({ name: "TaskNotFoundError" });
    const listed: any = await client.listTasks(ListTasksRequest.fromJSON({ pageSize: 1 }));
    expect([listed.tasks.length, listed.pageSize]).toEqual([1, 1]);
  });

  test("serves the official v0.3 client", async () => {
    const client = await oldClient(baseOf(name), team.apiKey);
    const ask = (text: string) => ({
      message: {
        kind: "message" as const,
        messageId: crypto.randomUUID(),
        role: "user" as const,
        parts: [{ kind: "text" as const, text }],
      },
      configuration: { blocking: true, acceptedOutputModes: ["text/plain"] },
    });
    const sent: any = await client.sendMessage(ask("complete hello"));
    expect(sent).toMatchObject({ kind: "task", status: { state: "completed" }, artifacts: [{ parts: [{ kind: "text", text: "hello" }] }] });
    expect(await client.getTask({ id: sent.id })).toMatchObject({ id: sent.id, status: { state: "completed" } });
    const events: any[] = [];
    for await (const event of client.sendMessageStream(ask("count 4"))) events.push(event);
    expect(
      events
        .filter(({ kind }) => kind === "artifact-update")
        .map(({ artifact }) => artifact.parts[0].text)
        .join(""),
    ).toBe("1;2;3;4;");
    expect(events.at(-1)).toMatchObject({ kind: "status-update", final: true, status: { state: "completed" } });
    await expect(client.getTask({ id: "none" })).rejects.toThrow("Task not found");
    // Its stream reader accepts no other kind of answer and would hide the reason.
    await expect(client.resubscribeTask({ id: "none" }).next()).rejects.toThrow("-32001");
    await expect(client.sendMessageStream({ message: { ...ask("ask").message, taskId: "none" } }).next()).rejects.toThrow("-32001");
  });

  test("is told to cancel a task, and a task waiting for input continues", async () => {
    const base = baseOf(name);
    const begun = await call(base, team.apiKey, "POST", "/message:send", {
      ...message("hold on"),
      configuration: { returnImmediately: true },
    });
    const { id } = begun.body.task;
    const stranger = await newTeam(world.admin, `strangers to ${name}`);
    expect((await call(base, stranger.apiKey, "GET", `/tasks/${id}`)).status).toBe(403);
    const cancelled = await call(base, team.apiKey, "POST", `/tasks/${id}:cancel`);
    expect(cancelled.body).toMatchObject({ id, status: { state: "TASK_STATE_CANCELED" } });
    expect(agents[name]?.requests.some(({ path, body }) => path.includes(":cancel") || /cancel/i.test(body?.method ?? ""))).toBe(true);
    expect((await call(base, team.apiKey, "POST", `/tasks/${id}:subscribe`)).body.error).toMatchObject({ status: "FAILED_PRECONDITION" });
    agents[name]?.release();
    const asked = await call(base, team.apiKey, "POST", "/message:send", message("ask"));
    expect(asked.body.task.status).toMatchObject({ state: "TASK_STATE_INPUT_REQUIRED", message: { parts: [{ text: "Which one?" }] } });
    const { id: taskId, contextId } = asked.body.task;
    const on = await call(base, team.apiKey, "POST", "/message:send", message("complete that one", { taskId }));
    expect(on.body.task).toMatchObject({ id: taskId, contextId, status: { state: "TASK_STATE_COMPLETED" } });
    const other = await call(base, team.apiKey, "POST", "/message:send", message("complete more", { taskId, contextId: "another" }));
    expect(other.status).toBe(400);
  });

  test("streams a task to two readers, who get the same content", async () => {
    const base = baseOf(name);
    const begun = await call(base, team.apiKey, "POST", "/message:send", {
      ...message("hold the line"),
      configuration: { returnImmediately: true },
    });
    const reading = call(base, team.apiKey, "GET", `/tasks/${begun.body.task.id}:subscribe`);
    const again = call(base, team.apiKey, "POST", `/tasks/${begun.body.task.id}:subscribe`);
    const before = agents[name]?.requests.length ?? 0;
    const deadline = Date.now() + PATIENCE_MS;
    while ((agents[name]?.requests.length ?? 0) < before + 2 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 100));
    agents[name]?.release();
    const [one, two] = (await Promise.all([reading, again])).map(({ text }) => eventsIn(text));
    expect(one?.[0]).toHaveProperty("task");
    expect(artifactText(one ?? [], "said")).toBe("the line");
    expect(one?.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(artifactText(two ?? [], "said")).toBe("the line");
  });
});

test("the served card is signed, and the official verifier accepts it", async () => {
  const card: any = await (await fetch(`${baseOf("new-rest")}/.well-known/agent-card.json`)).json();
  const published: any = await (await fetch(`${world.gateway.runtimeUrl}/.well-known/agent-card/default/new-rest`)).json();
  expect(published).toEqual(card);
  expect(card.supportedInterfaces[0]).toEqual({ url: baseOf("new-rest"), protocolBinding: "HTTP+JSON", protocolVersion: "1.0" });
  const { keys }: any = await (await fetch(`${world.gateway.runtimeUrl}/.well-known/a2a-jwks/default`)).json();
  const keyOf = async (kid: string) => createPublicKey({ key: keys.find((key: any) => key.kid === kid), format: "jwk" });
  await verifyAgentCardSignature(keyOf as never)(card);
  const { agents: records } = await world.admin.get("/v1/admin/agents");
  const { id, published_card: recorded } = records.find((one: any) => one.card_name === "new-rest");
  expect(recorded).toEqual(card);
  const record = await world.admin.get(`/v1/admin/agents/${id}`);
  expect(record.published_card).toEqual(card);
  const changed = await world.admin.request("PATCH", `/v1/admin/agents/${id}`, { ...record, description: "The newest one" });
  const described: any = await (await fetch(`${world.gateway.runtimeUrl}/.well-known/agent-card/default/new-rest`)).json();
  expect([changed.body.published_card, described.description]).toEqual([described, "The newest one"]);
  const forged = { ...card, name: "another" };
  await expect(verifyAgentCardSignature(keyOf as never)(forged)).rejects.toThrow();
  const row = await rowOf(world.admin, { proxy_subtype: "agent_card" });
  expect(row).toMatchObject({ tenant_id: "default", success: true, proxy_type: "a2a" });
});

test("a card requested with a made-up Host header is not signed, which is logged once", async () => {
  const address = `${world.gateway.runtimeUrl}/.well-known/agent-card/default/new-rest`;
  const { port } = new URL(address);
  const cardFor = async (host: string, headers = {}): Promise<any> => (await fetch(address, { headers: { host, ...headers } })).json();
  for (const host of ["evil.example", "127.0.0.1:1", "127.0.0.1.evil.example"])
    for (const version of ["1.0", "0.3"]) {
      const card = await cardFor(host, { "a2a-version": version });
      expect(JSON.stringify(card)).toContain(`http://${host}/`);
      expect(card).not.toHaveProperty("signatures");
    }
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`]) expect((await cardFor(host)).signatures).not.toBeEmpty();
  expect(world.gateway.output().match(/agent_card_not_signed/g)).toHaveLength(1);
});

test("signing keys are rotated with an overlap, during which both sign", async () => {
  await world.admin.post("/v1/admin/agent-signing-keys/rotate", { tenant_id: "default" });
  const card: any = await (await fetch(`${baseOf("new-rest")}/.well-known/agent-card.json`)).json();
  expect(card.signatures).toHaveLength(2);
  const { keys }: any = await (await fetch(`${world.gateway.runtimeUrl}/.well-known/a2a-jwks/default`)).json();
  expect(keys).toHaveLength(2);
  await world.admin.post("/v1/admin/agent-signing-keys/rotate", { tenant_id: "default", overlap_seconds: 0 });
  const after: any = await (await fetch(`${baseOf("new-rest")}/.well-known/agent-card.json`)).json();
  expect(after.signatures).toHaveLength(2);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { startHandshakeServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { serveModels } from "../../support/worlds/admin.ts";
import { call, grantAgent, message, registerAgent } from "./a2a-harness.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** Calls that an agent makes in turn belong to the run in which it was called, as far as the gateway's own signature proves it. */
let world: World;
let first: AgentFixture;
let second: AgentFixture;
let tools: ToolServerFixture;
let toolServer: string;
/** The first agent's caller; the first agent itself, which calls the second; and an unrelated team. */
let caller: Team;
let ofFirst: Team;
let stranger: Team;
const NAMES = ["x-gw-delegation-chain", "x-gw-delegation-signature", "x-gw-delegation-key-id"] as const;
type Chain = Record<(typeof NAMES)[number], string>;

const at = (name: string) => `${world.gateway.runtimeUrl}/a2a/default/${name}`;
const rowOfCall = (answer: { headers: Headers }) => rowOf(world.admin, { id: answer.headers.get("x-request-id") });
const reasonOf = (answer: { body: any }) => answer.body.error.details[0].reason;

function chainOf(agent: AgentFixture): Chain {
  const headers = agent.requests.at(-1)?.headers ?? {};
  return Object.fromEntries(NAMES.map((name) => [name, String(headers[name])])) as Chain;
}
const read = (chain: Chain) => JSON.parse(Buffer.from(chain["x-gw-delegation-chain"], "base64url").toString());

beforeAll(async () => {
  world = await startWorld();
  [first, second, tools] = await Promise.all([startAgent(), startAgent(), startHandshakeServer()]);
  const { admin } = world;
  const served = await serveModels(admin, world.upstream.baseUrl, ["fake-1"], { group: "the first agent" });
  ofFirst = { groupId: served.groupId, apiKey: served.apiKey, apiKeyId: served.apiKeyId };
  [caller, stranger] = [await newTeam(admin, "callers"), await newTeam(admin, "strangers")];
  const one = await registerAgent(admin, "first", first.url, { resource_group_id: ofFirst.groupId });
  const two = await registerAgent(admin, "second", second.url);
  await grantAgent(admin, one.id, [caller.groupId, ofFirst.groupId, stranger.groupId]);
  await grantAgent(admin, two.id, [caller.groupId, ofFirst.groupId, stranger.groupId], { max_depth: 2 });
  toolServer = (await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: tools.baseUrl })).id;
  await grant(admin, "tools", toolServer, [ofFirst.groupId]);
});
afterAll(async () => {
  await world?.end();
  await Promise.all([first?.stop(), second?.stop(), tools?.stop()]);
});

test("calls of an agent to a model, a tool and another agent join the run of the call it received, each with its depth", async () => {
  const begun = await call(at("first"), caller.apiKey, "POST", "/message:send", message("complete x"));
  const root = await rowOfCall(begun);
  expect(root).toMatchObject({ trace_continuity: "minted", trace_root_kind: "external_api", delegation_depth: 1, parent_task_id: null });
  const chain = chainOf(first);
  expect(read(chain)).toMatchObject({
    root_task_id: root.root_task_id,
    hops: [{ agent: "first", group: caller.groupId, depth: 1, at: expect.any(Number), task: root.current_task_id }],
  });
  const model = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": ofFirst.apiKey, "content-type": "application/json", ...chain },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(model.status).toBe(200);
  expect(model.headers.get("x-gw-run-id")).toBe(root.root_task_id);
  await model.text();
  const tool = await post(
    `${world.gateway.runtimeUrl}/v1/proxy/mcp/${toolServer}`,
    ofFirst.apiKey,
    stateless(1, "tools/call", { name: "echo", arguments: { text: "x" } }),
    chain,
  );
  expect(tool.status).toBe(200);
  const nested = await call(at("second"), ofFirst.apiKey, "POST", "/message:send", message("complete y"), chain);
  expect(nested.status).toBe(200);
  expect(read(chainOf(second)).hops.map(({ agent }: any) => agent)).toEqual(["first", "second"]);
  const rows = await rowsOf(world.admin, { root_task_id: root.root_task_id }, 4);
  const kept = rows.map(({ proxy_type: type, trace_continuity: continuity, delegation_depth: depth, parent_task_id: parent }: any) => [
    type,
    continuity,
    depth,
    parent,
  ]);
  expect(kept.sort()).toEqual(
    [
      ["a2a", "minted", 1, null],
      ["llm", "verified", 1, root.current_task_id],
      ["mcp", "verified", 1, root.current_task_id],
      ["a2a", "verified", 2, root.current_task_id],
    ].sort(),
  );
  const inner = await rowOfCall(nested);
  expect(inner).toMatchObject({ deciding_model: "fake-1", trace_root_kind: "external_api", subject_kind: "upstream agent" });
  expect(inner.actor_agent_id).toMatch(/^agent-/);
  expect(JSON.stringify(rows)).not.toContain(chain["x-gw-delegation-signature"]);
});

test("an agent that names its own run stays in the run it was called in, and the response says which", async () => {
  const root = await rowOfCall(await call(at("first"), caller.apiKey, "POST", "/message:send", message("complete x")));
  const headers = { "x-api-key": ofFirst.apiKey, "content-type": "application/json", ...chainOf(first), "x-gw-run-id": "my own" };
  const body = JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hi" }] });
  const model = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, { method: "POST", headers, body });
  await model.text();
  const run = model.headers.get("x-gw-run-id");
  expect(run).toBe(root.root_task_id);
  const runAt = async (id: string | null) =>
    (await (await fetch(`${world.gateway.runtimeUrl}/v1/runs/${id}`, { headers: { "x-api-key": ofFirst.apiKey } })).json()) as any;
  expect((await runAt(run)).actions.map(({ id }: any) => id)).toContain(model.headers.get("x-request-id"));
  expect((await runAt("my%20own")).code).toBe("not_found");
});

describe("a delegation chain", () => {
  let chain: Chain;
  beforeAll(async () => {
    await call(at("first"), caller.apiKey, "POST", "/message:send", message("complete x"));
    chain = chainOf(first);
  });
  const bring = (brought: Record<string, string>, key = ofFirst.apiKey, name = "second") =>
    call(at(name), key, "POST", "/message:send", message("complete y"), brought);
  const told = async (brought: Record<string, string>, key?: string) => {
    const { trace_continuity, custom_metadata, root_task_id, delegation_depth } = await rowOfCall(await bring(brought, key));
    expect(root_task_id).not.toBe(read(chain).root_task_id);
    return [trace_continuity, custom_metadata?.delegation_refused, delegation_depth];
  };

  test("that is forged, reordered, of another key, replayed by another group or incomplete is dropped, with the reason", async () => {
    const { root_task_id: root, root_kind: kind, hops } = read(chain);
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const longer = { root_task_id: root, root_kind: kind, hops: [...hops, { ...hops[0], agent: "second", depth: 2 }] };
    expect(await told({ ...chain, [NAMES[0]]: encoded(longer) })).toEqual(["sig_failed", "the signature does not fit", 1]);
    expect(await told({ ...chain, [NAMES[0]]: encoded({ hops, root_kind: kind, root_task_id: root }) })).toEqual([
      "sig_failed",
      "the signature does not fit",
      1,
    ]);
    // Changing the first character always changes the signature; changing the last may not, because it carries unused bits.
    const [initial, rest] = [chain[NAMES[1]].slice(0, 1), chain[NAMES[1]].slice(1)];
    expect(await told({ ...chain, [NAMES[1]]: (initial === "A" ? "B" : "A") + rest })).toMatchObject([
      "sig_failed",
      "the signature does not fit",
      1,
    ]);
    expect(await told({ ...chain, [NAMES[2]]: "0".repeat(16) })).toEqual(["sig_failed", "signed with another key", 1]);
    expect(await told(chain, stranger.apiKey)).toEqual(["sig_failed", "given to another agent", 1]);
    const { [NAMES[1]]: _signature, ...torn } = chain;
    expect(await told(torn)).toEqual(["client_dropped", undefined, 1]);
  });

  test("that returns to an agent in it is refused as a loop", async () => {
    const before = first.requests.length;
    const looped = await bring(chain, ofFirst.apiKey, "first");
    expect([looped.status, reasonOf(looped), first.requests.length]).toEqual([403, "DELEGATION_LOOP", before]);
    expect(await rowOfCall(looped)).toMatchObject({
      error_type: "delegation_loop",
      agent_authz_decision: "deny",
      trace_continuity: "verified",
    });
    // The same with the agent's own credential and no chain.
    expect(reasonOf(await call(at("first"), ofFirst.apiKey, "POST", "/message:send", message("complete y")))).toBe("DELEGATION_LOOP");
  });

  test("that is longer than the grant or the run's ceiling allows is refused", async () => {
    const { id } = await registerAgent(world.admin, "third", second.url);
    await grantAgent(world.admin, id, [ofFirst.groupId], { max_depth: 1 });
    const deep = await bring(chain, ofFirst.apiKey, "third");
    expect([deep.status, reasonOf(deep)]).toEqual([403, "DELEGATION_TOO_DEEP"]);
    await world.admin.request("PATCH", `/v1/admin/resource-groups/${ofFirst.groupId}/run-ceilings`, {
      run_ceilings: { max_delegation_depth_per_run: 1 },
    });
    const ceiling = await bring(chain);
    expect([ceiling.status, await rowOfCall(ceiling)]).toMatchObject([429, { error_type: "run_ceiling_reached", delegation_depth: 2 }]);
  });
});

test("a group's run ceilings also count the calls of agents it called", async () => {
  const { admin } = world;
  const spender = await newTeam(admin, "spenders");
  const { agents } = await admin.get("/v1/admin/agents?search=first");
  await grantAgent(admin, agents[0].id, [spender.groupId]);
  await admin.request("PATCH", `/v1/admin/resource-groups/${spender.groupId}/run-ceilings`, { run_ceilings: { max_llm_calls_per_run: 1 } });
  await call(at("first"), spender.apiKey, "POST", "/message:send", message("complete x"));
  const chain = chainOf(first);
  const asks = async (brought: Record<string, string>) => {
    const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "x-api-key": ofFirst.apiKey, "content-type": "application/json", ...brought },
      body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hi" }] }),
    });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  expect((await asks(chain)).status).toBe(200);
  const more = await asks(chain);
  expect([more.status, more.body.usage_limit]).toMatchObject([429, { limit_type: "max_llm_calls_per_run", group_id: spender.groupId }]);
  // A run that the agent starts itself is not limited by the caller's.
  expect((await asks({})).status).toBe(200);
});

test("the duration of a run counts from its first call, not from the call that reached the agent", async () => {
  const group = `/v1/admin/resource-groups/${ofFirst.groupId}/run-ceilings`;
  await world.admin.request("PATCH", group, { run_ceilings: { max_duration_seconds_per_run: 2, max_delegation_depth_per_run: null } });
  const named = { "x-gw-run-id": "a long run" };
  const begun = await call(at("second"), caller.apiKey, "POST", "/message:send", message("complete x"), named);
  await rowOfCall(begun);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await call(at("first"), caller.apiKey, "POST", "/message:send", message("complete x"), named);
  const asked = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": ofFirst.apiKey, "content-type": "application/json", ...chainOf(first) },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hi" }] }),
  });
  expect([asked.status, ((await asked.json()) as any).usage_limit?.limit_type]).toEqual([429, "max_duration_seconds_per_run"]);
});

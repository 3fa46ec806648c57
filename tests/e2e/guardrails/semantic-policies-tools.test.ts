import { GUARDRAIL_SURFACES, SERVED_SURFACES } from "@gatehouse/contracts/guardrails";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type FakeJudge, startFakeJudge } from "../../support/vendors/fake-judge.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import {
  type FurtherTool,
  startHandshakeServer,
  startStatelessServer,
  type ToolServerFixture,
} from "../../support/tool-servers/tool-servers.ts";
import { rowOf } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, handshakeClient, newTeam, statelessClient, type Team, textOf } from "../tools/mcp-harness.ts";

/** Plain-language rules on what is sent to tool servers, on their answers, and on their tool descriptions. */
const INSTRUCTIONS = "Feed the dragon first.";
const FURTHER: FurtherTool[] = [{ name: "keeper", description: "Feeds the dragon." }];
const POLICIES = "/v1/admin/semantic-policies";

let world: World;
let judge: FakeJudge;
let team: Team;
let policy: { readonly id: string };
const fixtures: ToolServerFixture[] = [];
const ids: Record<string, string> = {};

beforeAll(async () => {
  world = await startWorld();
  judge = startFakeJudge();
  const { admin } = world;
  team = await newTeam(admin, "judged");
  const tenant = { tenant_id: "default" };
  await admin.post("/v1/admin/providers", {
    ...tenant,
    provider_key: "judges",
    api_format: "openai",
    base_url: judge.baseUrl,
    api_key: "sk-judge-secret-0000001",
  });
  const model = await admin.post("/v1/admin/llms", { ...tenant, name: "judge-1", provider: "judges", mode: "chat" });
  for (const [name, fixture] of Object.entries({
    handshake: startHandshakeServer({ further: FURTHER, instructions: INSTRUCTIONS }),
    stateless: startStatelessServer({ further: FURTHER, instructions: INSTRUCTIONS }),
  })) {
    fixtures.push(fixture);
    ids[name] = (await admin.post("/v1/admin/mcp-servers", { ...tenant, name, base_url: fixture.baseUrl })).id;
    await grant(admin, name, ids[name] as string, [team.groupId]);
  }
  policy = await admin.post(POLICIES, {
    ...tenant,
    name: "no dragons",
    constraint_text: "Nothing may speak of dragons.",
    judge_model_id: model.id,
    timeout_seconds: PATIENCE_MS / 1000,
    resource_group_ids: [team.groupId],
    enabled: false,
  });
});
beforeEach(() => change({ enabled: true, mode: "enforce", action: "block", surfaces: ["mcp_registration"] }));
afterAll(async () => {
  await Promise.all([...fixtures, judge].map((one) => one.stop()));
  await world.end();
});

async function change(body: object): Promise<void> {
  expect((await world.admin.request("PATCH", `${POLICIES}/${policy.id}`, body)).status).toBe(200);
}

const CLIENTS = { handshake: handshakeClient, stateless: statelessClient } as const;
const TABLE = (["handshake", "stateless"] as const).flatMap((client) =>
  ["handshake", "stateless"].map((server) => [client, server] as const),
);
const callsOf = (name: string) =>
  fixtures.flatMap(({ seen }) => seen).filter(({ body }) => body.includes("tools/call") && body.includes(name)).length;

describe.each(TABLE)("a %s client of a %s server", (dialect, server) => {
  const connected = async <T>(tag: string, work: (client: any) => Promise<T>): Promise<T> => {
    const client = await CLIENTS[dialect](`${world.gateway.runtimeUrl}/v1/proxy/mcp/${ids[server]}`, team.apiKey, {
      "x-correlation-id": `${tag} ${dialect} ${server}`,
    });
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  };
  const row = (tag: string, more: object = {}) => rowOf(world.admin, { correlation_id: `${tag} ${dialect} ${server}`, ...more });

  test("does not list a tool whose description violates a semantic policy, and cannot call it", async () => {
    const before = callsOf("keeper");
    await connected("listed", async (client) => {
      expect(client.getInstructions()).toBeUndefined();
      const { tools } = await client.listTools();
      expect(tools.map(({ name }: { name: string }) => name)).toContain("echo");
      expect(tools.map(({ name }: { name: string }) => name)).not.toContain("keeper");
    });
    expect(await row("listed", { mcp_method: "tools/list" })).toMatchObject({
      semantic_policy_id: policy.id,
      success: true,
      tags: expect.arrayContaining(["tool_withheld"]),
    });
    await connected("called", async (client) => {
      await expect(client.callTool({ name: "keeper", arguments: {} })).rejects.toThrow();
    });
    expect(await row("called", { mcp_method: "tools/call" })).toMatchObject({
      proxy_subtype: "semantic_policy_block",
      semantic_policy_id: policy.id,
      error_type: "semantic_policy_block",
    });
    expect(callsOf("keeper")).toBe(before);
    const judged = judge.seen.length;
    await connected("again", async (client) => {
      await client.listTools();
      expect(textOf(await client.callTool({ name: "echo", arguments: { text: "hello" } }))).toContain("hello");
    });
    expect(judge.seen.length).toBe(judged);
  });

  test("cannot send arguments that violate a semantic policy", async () => {
    await change({ surfaces: ["mcp_input"] });
    const before = callsOf("a dragon in");
    await connected("sent", async (client) => {
      await expect(client.callTool({ name: "echo", arguments: { text: "a dragon in" } })).rejects.toThrow();
    });
    expect(callsOf("a dragon in")).toBe(before);
    expect(await row("sent", { mcp_method: "tools/call" })).toMatchObject({ error_type: "semantic_policy_block" });
  });

  test("gets no tool result that violates a semantic policy, except when the policy warns or is in shadow mode", async () => {
    await change({ surfaces: ["mcp_output"] });
    const echo = (client: any, text: string) => client.callTool({ name: "echo", arguments: { text } });
    await connected("answered", async (client) => {
      await expect(echo(client, `a dragon out ${dialect} ${server}`)).rejects.toThrow();
      expect(textOf(await echo(client, "a horse out"))).toContain("a horse out");
    });
    expect(await row("answered", { success: false, mcp_method: "tools/call" })).toMatchObject({
      error_type: "semantic_policy_block",
      semantic_policy_id: policy.id,
    });
    for (const told of [{ action: "warn" }, { action: "block", mode: "shadow" }]) {
      await change(told);
      const text = `a dragon let out ${dialect} ${server} ${JSON.stringify(told).length}`;
      await connected("let out", async (client) => expect(textOf(await echo(client, text))).toContain(text));
    }
  });
});

test.each(GUARDRAIL_SURFACES.filter((surface) => !(SERVED_SURFACES as readonly string[]).includes(surface)))(
  "the surface %s, which calls do not pass yet, is refused in a semantic policy",
  async (surface) => {
    const answers = [
      await world.admin.request("POST", POLICIES, {
        tenant_id: "default",
        name: surface,
        constraint_text: "Be kind.",
        surfaces: [surface],
      }),
      await world.admin.request("PATCH", `${POLICIES}/${policy.id}`, { surfaces: ["chat_input", surface] }),
    ];
    for (const { status, body } of answers) expect([status, body.fields[0].field]).toEqual([400, expect.stringMatching(/^surfaces/)]);
  },
);

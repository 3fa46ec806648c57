import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, handshakeClient, newTeam, post, stateless, statelessClient, type Team } from "../tools/mcp-harness.ts";

/** Guardrails on the answers of tool servers, from each dialect to each, and behind a virtual server. */
let world: World;
const teams: Team[] = [];
const fixtures: ToolServerFixture[] = [];
const urls: Record<string, string> = {};
const TOKEN = "ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q";

const CALLERS = { handshake: handshakeClient, stateless: statelessClient } as const;
const routes = (Object.keys(CALLERS) as (keyof typeof CALLERS)[]).flatMap((caller) =>
  (
    [
      ["old", ""],
      ["modern", ""],
      ["virtual", "old__"],
      ["virtual", "modern__"],
    ] as const
  ).map(([server, prefix]) => [caller, server, prefix] as const),
);

beforeAll(async () => {
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  for (const route of routes) teams.push(await newTeam(admin, `guarded ${route.join(" ")}`));
  const groups = teams.map(({ groupId }) => groupId);
  const members: { mcp_server_id: string; slug: string }[] = [];
  for (const [name, fixture] of [
    ["old", startHandshakeServer({ reports: true })],
    ["modern", startStatelessServer({ reports: true })],
  ] as const) {
    fixtures.push(fixture);
    const { id } = await admin.post("/v1/admin/mcp-servers", { ...tenant, name, base_url: fixture.baseUrl });
    await grant(admin, name, id, groups);
    urls[name] = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
    members.push({ mcp_server_id: id, slug: name });
  }
  const virtual = await admin.post("/v1/admin/virtual-servers", { ...tenant, name: "both", members, group_ids: groups });
  urls.virtual = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  await admin.post("/v1/admin/guardrails/configs", {
    ...tenant,
    name: "answer wall",
    group_ids: groups,
    surfaces: { mcp_output: true },
    builtin: {
      pii_enabled: true,
      pii_action: "redact",
      secrets_enabled: true,
      secrets_action: "block",
      banned_words: ["project titan"],
      banned_words_action: "warn",
    },
  });
});
afterAll(async () => {
  await Promise.all(fixtures.map((fixture) => fixture.stop()));
  await world.end();
});

describe.each(routes)('a %s client of the %s server (tool prefix "%s")', (caller, server, prefix) => {
  const team = () => teams[routes.findIndex((route) => route.join() === [caller, server, prefix].join())] as Team;
  const withClient = async <T>(use: (client: any) => Promise<T>): Promise<T> => {
    const client = await CALLERS[caller](urls[server] ?? "", team().apiKey);
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  };
  const report = (text: string) => withClient((client) => client.callTool({ name: `${prefix}report`, arguments: { text } }));
  const last = async (action: string) =>
    rowOf(world.admin, { resource_group_id: team().groupId, mcp_capability_name: `${prefix}report`, guardrail_action: action });

  test("gets tool results with every text redacted and nothing else changed", async () => {
    const { content, structuredContent } = (await report("joe@example.com")) as any;
    expect(content[0].text).toBe("Says [REDACTED:email]");
    expect(JSON.parse(content[1].text)).toEqual({ said: "[REDACTED:email]", many: 1.5 });
    expect(content[2].resource).toMatchObject({ text: "Holds [REDACTED:email]", mimeType: "text/plain" });
    expect(structuredContent).toEqual({ said: "[REDACTED:email]", deep: [{ said: "[REDACTED:email]" }], count: 3 });
    expect(await last("redact")).toMatchObject({ guardrail_action: "redact", guardrail_check: "pii", pii_detected: true, success: true });
  });

  test("gets prompts and resources redacted", async () => {
    await withClient(async (client) => {
      const prompt = await client.getPrompt({ name: `${prefix}quote`, arguments: { text: "joe@example.com" } });
      expect(prompt.messages[0].content.text).toBe("Quotes [REDACTED:email]");
      const uri = prefix === "" ? "test://contact" : `${prefix.slice(0, -2)}+test://contact`;
      expect((await client.readResource({ uri })).contents).toMatchObject([{ uri, text: "Write to [REDACTED:email]" }]);
    });
  });

  test("gets completions redacted or blocked", async () => {
    await withClient(async (client) => {
      const suggested = async (value: string) =>
        (await client.complete({ ref: { type: "ref/prompt", name: `${prefix}quote` }, argument: { name: "text", value } })).completion
          .values;
      expect(await suggested("joe@example.com")).toEqual(["[REDACTED:email]", "nobody, or [REDACTED:email]"]);
      expect(await suggested("joe")).toEqual(["joe", "nobody, or joe"]);
      const error = await suggested(TOKEN).catch(String);
      expect(error).toContain("blocked by a guardrail (secrets)");
      expect(error).not.toContain("ghp_");
    });
  });

  test("gets a refusal when a tool result is blocked", async () => {
    const error = await report(TOKEN).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (caller === "stateless") {
      const { body } = await post(
        urls[server] ?? "",
        team().apiKey,
        stateless(1, "tools/call", { name: `${prefix}report`, arguments: { text: TOKEN } }),
      );
      expect(body.error).toMatchObject({
        code: 4031,
        data: { code: "guardrail_blocked", guardrail: "answer wall", check: "secrets", direction: "output" },
      });
    }
    expect(String(error)).toContain("blocked by a guardrail (secrets)");
    expect(String(error)).not.toContain("ghp_");
    expect(await last("block")).toMatchObject({
      guardrail_blocked: true,
      guardrail_action: "block",
      guardrail_check: "secrets",
      success: false,
      error_type: "guardrail_blocked",
    });
  });

  test("gets a tool result unchanged when a guardrail warns, which only the audit row records", async () => {
    expect(((await report("Project Titan")) as any).structuredContent.said).toBe("Project Titan");
    expect(await last("warn")).toMatchObject({ guardrail_action: "warn", guardrail_check: "banned_words", success: true });
  });
});

test("a tool result in which nothing was changed passes byte for byte", async () => {
  const { sent } = fixtures[1] as ToolServerFixture;
  const answer = await post(
    urls.modern ?? "",
    teams[0]?.apiKey ?? "",
    stateless(1, "tools/call", { name: "report", arguments: { text: "nothing of note" } }),
  );
  expect(answer.status).toBe(200);
  expect(answer.text).toBe(sent.at(-1) ?? "");
});

test("a response of a tool server that cannot be read is withheld with 502", async () => {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("Mail joe@example.com", { headers: { "content-type": "text/plain" } }),
  });
  try {
    const { id } = await world.admin.post("/v1/admin/mcp-servers", {
      tenant_id: "default",
      name: "mumbling",
      base_url: `http://127.0.0.1:${server.port}`,
    });
    await grant(
      world.admin,
      "mumbling",
      id,
      teams.map(({ groupId }) => groupId),
    );
    const answer = await post(
      `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`,
      teams[0]?.apiKey ?? "",
      stateless(1, "tools/call", { name: "any", arguments: {} }),
    );
    expect([answer.status, answer.body.error.data.code]).toEqual([502, "upstream_invalid_response"]);
    expect(answer.text).not.toContain("joe@");
    const suggested = await post(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`, teams[0]?.apiKey ?? "", {
      jsonrpc: "2.0",
      id: 1,
      method: "completion/complete",
      params: { ref: { type: "ref/prompt", name: "any" }, argument: { name: "a", value: "" } },
    });
    expect([suggested.status, suggested.text.includes("joe@")]).toEqual([502, false]);
  } finally {
    await server.stop(true);
  }
});

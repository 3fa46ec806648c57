import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { type OddServers, startOddServers } from "../../support/tool-servers/odd-servers.ts";
import { events, type ScriptedAnswer } from "../../support/tool-servers/scripted-tool-server.ts";
import { until } from "../../support/until.ts";
import { post, stateless } from "../tools/mcp-harness.ts";

/** Guardrails on what tool servers send besides their answers. */
let odd: OddServers;

beforeAll(async () => {
  odd = await startOddServers();
  await odd.world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "answers",
    surfaces: { mcp_output: true },
    builtin: { pii_enabled: true, pii_action: "redact", banned_words: ["project titan"], banned_words_action: "block" },
  });
});
afterAll(() => odd.end());

const data = (message: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
const DONE = { content: [{ type: "text", text: "done" }] };

/** A notification before the answer, and a question that may not be asked. */
const talkative =
  (question: object): ScriptedAnswer =>
  (message) => {
    if (message?.method !== "tools/call") return undefined;
    return events(
      [
        {
          method: "notifications/progress",
          params: { progressToken: message.params._meta?.progressToken ?? "p", progress: 1, message: "joe@example.com" },
        },
        { method: "notifications/message", params: { level: "error", logger: "log", data: { note: "ann@example.com" } } },
        { method: "notifications/message", params: { level: "error", data: "It is project titan." } },
        ...(Object.keys(question).length === 0 ? [] : [{ id: "q", method: "elicitation/create", params: question }]),
        { id: message.id, result: { resultType: "complete", ...DONE } },
      ]
        .map(data)
        .join(""),
    );
  };
const TITAN = { mode: "form", message: "What do you know of project titan?", requestedSchema: { type: "object", properties: {} } };
const META = {
  "io.modelcontextprotocol/logLevel": "debug",
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  progressToken: "p",
};

test.each(["handshake", "stateless"] as const)(
  "progress and log messages of a %s server are inspected, whichever dialect its client speaks",
  async (dialect) => {
    const { id } = await odd.serve(`talks ${dialect}`, dialect, talkative({}));
    const call = { name: "open", arguments: {} };
    for (const ask of ["same", "other"]) {
      const spoken = (ask === "same") === (dialect === "handshake") ? "handshake" : "stateless";
      const session = spoken === "handshake" ? await odd.sessionAt(id) : {};
      const params = spoken === "handshake" ? { ...call, _meta: { progressToken: "p" } } : { ...call, _meta: META };
      const said = await post(odd.at(id), odd.team.apiKey, { jsonrpc: "2.0", id: 1, method: "tools/call", params }, session);
      expect(said.text).not.toContain("@example.com");
      expect(said.text).not.toContain("titan");
      expect(said.text).toContain('"message":"[REDACTED:email]"');
      expect(said.text).toContain('"note":"[REDACTED:email]"');
      expect(said.body.result.content).toEqual(DONE.content);
      const row = await rowOf(odd.world.admin, { id: said.headers.get("x-request-id") });
      expect(row).toMatchObject({ guardrail_action: "block", success: true });
      expect(row.tags).toContain("message_withheld");
    }
  },
);

test("a blocked elicitation does not reach the client, and its server is told so", async () => {
  const { id, server } = await odd.serve("phishes", "handshake", talkative(TITAN));
  const answered = () => server.seen.filter(({ text }) => text.includes('"id":"q"') && text.includes("withheld"));
  const session = await odd.sessionAt(id);
  const passed = await post(
    odd.at(id),
    odd.team.apiKey,
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "open", arguments: {} } },
    session,
  );
  expect(passed.text).not.toContain("titan");
  expect(passed.body.result.content).toEqual(DONE.content);
  await until(() => answered().length === 1);
  const bridged = await post(odd.at(id), odd.team.apiKey, stateless(2, "tools/call", { name: "open", arguments: {} }));
  expect(bridged.text).not.toContain("titan");
  expect(bridged.body.result.content).toEqual(DONE.content);
  await until(() => answered().length === 2);
});

test("input requests in a stateless server's result are inspected before the client sees them", async () => {
  const { id } = await odd.serve("asks", "stateless", (message) =>
    message?.method === "tools/call"
      ? { resultType: "input_required", inputRequests: { who: { method: "elicitation/create", params: TITAN } }, requestState: "s" }
      : undefined,
  );
  const call = { name: "open", arguments: {} };
  const begun = await post(odd.at(id), odd.team.apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: { name: "raw", version: "1" } },
  });
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  for (const said of [
    await post(odd.at(id), odd.team.apiKey, stateless(1, "tools/call", call)),
    await post(odd.at(id), odd.team.apiKey, { jsonrpc: "2.0", id: 1, method: "tools/call", params: call }, session),
  ]) {
    expect(said.text).not.toContain("What do you know");
    expect(said.body.error.data.code).toBe("guardrail_blocked");
  }
});

test.each([
  ["an error of a tool call", "tools/call", { code: -32603, message: "No such person: joe@example.com", data: { of: "ann@example.com" } }],
  ["an error of a prompt list", "prompts/list", { code: -32603, message: "joe@example.com" }],
] as const)("%s is redacted for clients of both dialects", async (name, method, error) => {
  for (const dialect of ["handshake", "stateless"] as const) {
    const { id } = await odd.serve(`${name} ${dialect}`, dialect, (message) =>
      message?.method === method ? Response.json({ jsonrpc: "2.0", id: message.id, error }) : undefined,
    );
    const params = method === "tools/call" ? { name: "open", arguments: {} } : {};
    const session = await odd.sessionAt(id);
    for (const said of [
      await post(odd.at(id), odd.team.apiKey, stateless(1, method, params)),
      await post(odd.at(id), odd.team.apiKey, { jsonrpc: "2.0", id: 1, method, params }, session),
    ]) {
      expect(said.body.error.message).toContain("[REDACTED:email]");
      expect(said.text).not.toContain("@example.com");
      const row = await rowOf(odd.world.admin, { id: said.headers.get("x-request-id") });
      expect(row.error_message).toContain("[REDACTED:email]");
      expect(JSON.stringify(row)).not.toContain("@example.com");
    }
  }
});

test("lists of prompts and resources and the server's information are inspected, also for a virtual server", async () => {
  const { id } = await odd.serve("lists", "handshake", (message) => {
    if (message?.method === "initialize")
      return Response.json(
        {
          jsonrpc: "2.0",
          id: message.id,
          result: {
            protocolVersion: "2025-11-25",
            capabilities: { prompts: {}, resources: {}, tools: {} },
            serverInfo: { name: "lists", version: "1", title: "Ask joe@example.com" },
          },
        },
        { headers: { "mcp-session-id": crypto.randomUUID() } },
      );
    if (message?.method === "prompts/list") return { prompts: [{ name: "p", description: "of joe@example.com" }] };
    if (message?.method === "resources/list") return { resources: [{ uri: "mail:joe%40example.com", name: "mail" }] };
    return undefined;
  });
  const virtual = await odd.world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "all lists",
    members: [{ mcp_server_id: id, slug: "l" }],
    group_ids: [odd.team.groupId],
  });
  const session = await odd.sessionAt(id);
  const both = (method: string) => [
    post(odd.at(id), odd.team.apiKey, stateless(1, method)),
    post(odd.at(id), odd.team.apiKey, { jsonrpc: "2.0", id: 1, method, params: {} }, session),
    post(`${odd.world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`, odd.team.apiKey, stateless(1, method)),
  ];
  for (const said of await Promise.all(both("prompts/list"))) expect(said.body.result.prompts[0].description).toBe("of [REDACTED:email]");
  for (const said of await Promise.all(both("resources/list")))
    expect(said.body.result.resources[0].uri).toContain("mail:[REDACTED:email]");
  const discovered = await post(odd.at(id), odd.team.apiKey, stateless(1, "server/discover"));
  const begun = await post(odd.at(id), odd.team.apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  });
  for (const { text } of [discovered, begun]) {
    expect(text).toContain("Ask [REDACTED:email]");
    expect(text).not.toContain("joe@");
  }
});

test("text served below a tool server's path is inspected, and a binary file passes unchanged", async () => {
  const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0x00, 0x40]);
  const { id } = await odd.serve("files", "handshake", (_message, { url, method }) => {
    if (method !== "GET") return undefined;
    if (url.endsWith("/picture")) return new Response(png, { headers: { "content-type": "application/octet-stream" } });
    return url.endsWith("/titan") ? new Response("About project titan") : Response.json([{ to: "joe@example.com" }]);
  });
  const at = (path: string) => fetch(odd.at(id) + path, { headers: { "x-api-key": odd.team.apiKey } });
  expect(await (await at("/list")).json()).toEqual([{ to: "[REDACTED:email]" }]);
  expect((await at("/titan")).status).toBe(403);
  expect(new Uint8Array(await (await at("/picture")).arrayBuffer())).toEqual(png);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type OddServers, inSession, startOddServers } from "../../support/tool-servers/odd-servers.ts";
import { events, type ScriptedAnswer } from "../../support/tool-servers/scripted-tool-server.ts";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { signInAsApprover } from "../../support/worlds/admin.ts";
import { grant, handshakeClient, newTeam, post, stateless, textOf } from "./mcp-harness.ts";

/** What a tool server wrote is passed on exactly, even where the gateway rewrites something next to it. */
let odd: OddServers;

beforeAll(async () => {
  odd = await startOddServers();
});
afterAll(() => odd.end());

const LARGE = "18446744073709551615";
const schema = `{"type":"object","properties":{"n":{"type":"integer","description":"of project titan","maximum":${LARGE}}}}`;
const tools = ["open", "closed"].map(
  (name) => `{"name":"${name}","execution":{"taskSupport":"optional"},"weight":${LARGE},"inputSchema":${schema}}`,
);

/** JSON with the server's own spelling, not parsed and re-serialized by this process. */
const written = (id: unknown, result: string) =>
  new Response(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`, { headers: { "content-type": "application/json" } });

describe.each(["handshake", "stateless"] as const)("integers beyond double precision of a %s server", (dialect) => {
  const answer: ScriptedAnswer = (message) => {
    if (message?.method === "tools/list") return written(message.id, `{"resultType":"complete","tools":[${tools.join(",")}]}`);
    if (message?.method !== "tools/call") return undefined;
    const link = `{"type":"resource_link","uri":"db://row","name":"row","size":${LARGE}}`;
    return written(message.id, `{"resultType":"complete","content":[${link}],"structuredContent":{"id":${LARGE}}}`);
  };
  let url: string;
  let virtual: string;

  beforeAll(async () => {
    const { id } = await odd.serve(`large, ${dialect}`, dialect, answer, { disabled_tools: ["closed"] });
    url = odd.at(id);
    const { id: virtualId } = await odd.world.admin.post("/v1/admin/virtual-servers", {
      tenant_id: "default",
      name: `large, ${dialect}`,
      members: [{ mcp_server_id: id, slug: "m" }],
      group_ids: [odd.team.groupId],
    });
    virtual = `${odd.world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtualId}`;
  });

  test.each(["handshake", "stateless"] as const)("keep their digits in lists and answers for %s clients", async (client) => {
    for (const [address, name] of [
      [url, "open"],
      [virtual, "m__open"],
    ] as const) {
      const session = client === "stateless" ? {} : await sessionAt(address);
      const ask = (method: string, params = {}) =>
        post(address, odd.team.apiKey, client === "stateless" ? stateless(1, method, params) : inSession(1, method, params), session);
      const listed = await ask("tools/list");
      expect(listed.text).toContain(`"name":"${name}"`);
      expect(listed.text).not.toContain("closed");
      expect(listed.text).toContain(`"weight":${LARGE}`);
      expect(listed.text).toContain(schema);
      const called = await ask("tools/call", { name, arguments: {} });
      expect(called.text).toContain(`"size":${LARGE}`);
      expect(called.text).toContain(`"id":${LARGE}`);
    }
  });

  test("keep their digits beside what a guardrail redacts", async () => {
    const guarded = await newTeam(odd.world.admin, `guarded, ${dialect}`);
    await grant(odd.world.admin, `guarded, ${dialect}`, url.split("/").at(-1) ?? "", [guarded.groupId], { disabled_tools: ["open"] });
    await odd.world.admin.post("/v1/admin/guardrails/configs", {
      tenant_id: "default",
      name: `large, ${dialect}`,
      group_ids: [guarded.groupId],
      surfaces: { mcp_registration: true },
      builtin: { banned_words: ["project titan"], banned_words_action: "redact" },
    });
    const listed = await post(url, guarded.apiKey, stateless(1, "tools/list"));
    expect(listed.text).not.toMatch(/titan|open/);
    expect(listed.text).toContain(`"maximum":${LARGE}`);
    expect(listed.text).toContain(`"weight":${LARGE}`);
  });
});

describe("an answer spread over several lines", () => {
  const lines = (id: unknown) =>
    `{\n  "jsonrpc": "2.0",\r\n  "id": ${JSON.stringify(id)},\n  "result": {\n    "content": [{ "type": "text", "text": "whole" }]\n  }\n}\n`;
  const pretty = (id: unknown) => new Response(lines(id), { headers: { "content-type": "application/json" } });

  test("reaches a client whose call waited for approval", async () => {
    const { id } = await odd.serve(
      "pretty, held",
      "handshake",
      (message) => (message?.method === "tools/call" ? pretty(message.id) : undefined),
      { approval_required_tools: ["open"] },
    );
    const approver = await signInAsApprover(odd.world.gateway.adminUrl, odd.world.admin);
    const client = new Client({ name: "first", version: "1" }, { capabilities: { elicitation: { url: {} } } });
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      const approval = /approvals\/([0-9a-f-]{36})\/page/.exec((params as { url: string }).url)?.[1];
      await approver.post(`/v1/admin/approvals/${approval}/approve`, {});
      return { action: "accept" };
    });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(odd.at(id)), { requestInit: { headers: { "x-api-key": odd.team.apiKey } } }) as never,
    );
    expect(textOf(await client.callTool({ name: "open", arguments: {} }))).toBe("whole");
    await client.close();
  });

  test("reaches a client that got progress before", async () => {
    let tell: (text: string) => void = () => undefined;
    const { id } = await odd.serve("pretty, told", "handshake", async (message, { method }) => {
      if (method === "GET")
        return new Response(
          new ReadableStream({
            start(controller) {
              tell = (text) => controller.enqueue(new TextEncoder().encode(text));
              tell(": open\n\n");
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        );
      if (message?.method !== "tools/call") return undefined;
      const { progressToken } = message.params._meta;
      tell(`data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } })}\n\n`);
      await Bun.sleep(100);
      return pretty(message.id);
    });
    const { id: virtualId } = await odd.world.admin.post("/v1/admin/virtual-servers", {
      tenant_id: "default",
      name: "pretty, told",
      members: [{ mcp_server_id: id, slug: "m" }],
      group_ids: [odd.team.groupId],
    });
    const client = await handshakeClient(`${odd.world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtualId}`, odd.team.apiKey);
    let told = 0;
    const answer = await client.callTool({ name: "m__open", arguments: {} }, undefined, { onprogress: () => void told++ });
    expect([told, textOf(answer)]).toEqual([1, "whole"]);
    await client.close();
  });
});

async function sessionAt(url: string): Promise<Record<string, string>> {
  const begun = await post(
    url,
    odd.team.apiKey,
    inSession(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } }),
  );
  return { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
}

test("log messages keep the digits of their numbers", async () => {
  const log = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":{"id":${LARGE}}}}`;
  const { id } = await odd.serve("large logs", "handshake", (message, { method }) => {
    if (method === "GET") return events(`data: ${log}\n\n`);
    if (message?.method !== "initialize") return undefined;
    return Response.json(
      {
        jsonrpc: "2.0",
        id: message.id,
        result: { protocolVersion: "2025-11-25", capabilities: { tools: {}, logging: {} }, serverInfo: { name: "l", version: "1" } },
      },
      { headers: { "mcp-session-id": crypto.randomUUID() } },
    );
  });
  const { id: virtualId } = await odd.world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "large logs",
    members: [{ mcp_server_id: id, slug: "m" }],
    group_ids: [odd.team.groupId],
  });
  const address = `${odd.world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtualId}`;
  const abort = new AbortController();
  const stream = await fetch(address, {
    headers: { accept: "text/event-stream", "x-api-key": odd.team.apiKey, ...(await sessionAt(address)) },
    signal: abort.signal,
  });
  let told = "";
  for await (const piece of stream.body as ReadableStream<Uint8Array>) {
    told += new TextDecoder().decode(piece);
    if (told.includes("data:")) break;
  }
  abort.abort();
  expect(told).toContain(`"id":${LARGE}`);
});

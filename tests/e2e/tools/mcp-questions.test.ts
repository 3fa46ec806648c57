import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client as SecondClient, StreamableHTTPClientTransport as SecondTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { rawStream } from "../../support/formats/raw-stream.ts";
import { type ScriptedAnswer, type ScriptedToolServer, startScriptedToolServer } from "../../support/tool-servers/scripted-tool-server.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team, textOf } from "./mcp-harness.ts";

/** Questions that servers ask callers of the other dialect. */
let world: World;
let team: Team;
const servers: ScriptedToolServer[] = [];

const at = (id: string) => `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "asked");
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await world.end();
});

async function serve(
  name: string,
  dialect: "handshake" | "stateless",
  answer: ScriptedAnswer,
): Promise<{ id: string; server: ScriptedToolServer }> {
  const server = startScriptedToolServer(dialect, answer);
  servers.push(server);
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: server.baseUrl });
  await grant(world.admin, name, id, [team.groupId]);
  return { id, server };
}

async function sessionAt(id: string, capabilities: object): Promise<Record<string, string>> {
  const begun = await post(at(id), team.apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } },
  });
  return { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
}

test.each(["handshake", "stateless"] as const)(
  "a question of a %s server to a caller of the other protocol version, and its answer, keep every digit",
  async (dialect) => {
    const AMOUNT = "9007199254740993";
    const question = `{"message":"How much?","requestedSchema":{"type":"object","properties":{"amount":{"type":"integer","maximum":${AMOUNT}}}}}`;
    const given = `{"action":"accept","content":{"amount":${AMOUNT}}}`;
    const json = (body: string) => new Response(body, { headers: { "content-type": "application/json" } });
    let answered = () => {};
    const { id, server } = await serve(`exact ${dialect}`, dialect, (message) => {
      // A reply to the server's question arrived: its own call is answered.
      if (message?.method === undefined && message?.id === "q") answered();
      if (message?.method !== "tools/call") return undefined;
      if (dialect === "handshake")
        return new Response(
          new ReadableStream({
            start(controller) {
              const say = (text: string) => controller.enqueue(new TextEncoder().encode(`data: ${text}\n\n`));
              say(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":${question}}`);
              answered = () => {
                say(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":{"content":[]}}`);
                controller.close();
              };
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        );
      const asks = message.params.inputResponses === undefined;
      return json(
        `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${asks ? `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":${question}}}}` : '{"resultType":"complete","content":[]}'}}`,
      );
    });
    if (dialect === "handshake") {
      const meta =
        '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}';
      const call = async (rest: string) =>
        (await post(at(id), team.apiKey, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open",${rest}${meta}}}`)).text;
      const asked = await call("");
      expect(asked).toContain(question);
      const { requestState } = JSON.parse(asked).result;
      expect(await call(`"requestState":"${requestState}",`)).toBe(asked);
      expect(await call(`"requestState":"${requestState}","inputResponses":{"input":${given}},`)).toContain('"content":[]');
    } else {
      const session = await sessionAt(id, { elicitation: {} });
      const stream = rawStream(
        at(id),
        "POST",
        { accept: "application/json, text/event-stream", "content-type": "application/json", "x-api-key": team.apiKey, ...session },
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open"}}',
      );
      await stream.until(`"maximum":${AMOUNT}`);
      const [, asked = ""] = /"id":"(gw-[^"]+)"/.exec(stream.text()) ?? [];
      expect((await post(at(id), team.apiKey, `{"jsonrpc":"2.0","id":"${asked}","result":${given}}`, session)).status).toBe(202);
      await stream.until('"content":[]');
      stream.close();
    }
    expect(server.seen.some(({ text }) => text.includes(given))).toBe(true);
  },
);

test("a URL question of a stateless server reaches a handshake client as elicitation", async () => {
  const { id } = await serve("opens", "stateless", (message) => {
    if (message?.method !== "tools/call") return undefined;
    if (message.params.inputResponses !== undefined)
      return { resultType: "complete", content: [{ type: "text", text: JSON.stringify(message.params.inputResponses) }] };
    return {
      resultType: "input_required",
      inputRequests: {
        open: { method: "elicitation/create", params: { mode: "url", url: "https://shop.example/consent", message: "Agree, please" } },
      },
    };
  });
  const opened: any[] = [];
  const client = new Client({ name: "first", version: "1" }, { capabilities: { elicitation: { url: {} } } });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    opened.push(params);
    return { action: "accept" as const };
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(at(id)), { requestInit: { headers: { "x-api-key": team.apiKey } } }) as never,
  );
  expect(JSON.parse(textOf(await client.callTool({ name: "open", arguments: {} })))).toEqual({ open: { action: "accept" } });
  expect(opened).toEqual([
    { mode: "url", url: "https://shop.example/consent", message: "Agree, please", elicitationId: expect.any(String) },
  ]);
  await client.close();
});

describe("a handshake server that requires URLs to be opened first", () => {
  const LINKS = [
    { mode: "url", elicitationId: "e1", url: "https://shop.example/consent?a=1", message: "Agree, please" },
    { mode: "url", elicitationId: "e2", url: "https://shop.example/second", message: "And here" },
  ];
  const secondClient = async (url: string, capabilities: object, action: "accept" | "decline") => {
    const opened: unknown[] = [];
    const client = new SecondClient(
      { name: "second", version: "1" },
      { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    if ("elicitation" in capabilities) {
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        opened.push(params);
        return { action };
      });
    }
    await client.connect(new SecondTransport(new URL(url), { requestInit: { headers: { "x-api-key": team.apiKey } } }));
    return { client, opened };
  };
  const URLS = { elicitation: { url: {} } };
  const calls = (server: ScriptedToolServer) => server.seen.filter(({ text }) => text.includes('"tools/call"'));
  let id = "";
  let server: ScriptedToolServer;
  let agreed = false;

  beforeAll(async () => {
    ({ id, server } = await serve("asks to open", "handshake", (message) => {
      if (message?.method !== "tools/call") return undefined;
      return agreed
        ? { content: [{ type: "text", text: "done" }] }
        : Response.json({
            jsonrpc: "2.0",
            id: message.id,
            error: { code: -32042, message: "Open this first", data: { elicitations: LINKS } },
          });
    }));
  });

  test("gets its call repeated after a stateless client with URL elicitation opened them", async () => {
    const { client, opened } = await secondClient(at(id), URLS, "accept");
    const first = post(at(id), team.apiKey, {
      ...stateless(1, "tools/call", { name: "open", arguments: { n: 1 } }),
      params: {
        name: "open",
        arguments: { n: 1 },
        _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": URLS },
      },
    });
    const { inputRequests, requestState } = (await first).body.result;
    expect(Object.values(inputRequests)).toEqual(
      LINKS.map(({ url, message }) => ({ method: "elicitation/create", params: { mode: "url", url, message } })),
    );
    agreed = true;
    const again = (args: object) =>
      post(at(id), team.apiKey, {
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: {
          name: "open",
          arguments: args,
          requestState,
          _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": URLS },
        },
      });
    expect((await again({ n: 2 })).body.error.code).toBe(-32602);
    expect(textOf((await again({ n: 1 })).body.result)).toBe("done");
    expect(calls(server).at(-1)?.text).not.toContain("requestState");
    agreed = false;
    const called = client.callTool({ name: "open", arguments: {} });
    await until(() => opened.length >= 2);
    agreed = true;
    expect(textOf(await called)).toBe("done");
    await client.close();
  });

  test("gets no second call if the client declines; a client without URL elicitation gets the error unchanged", async () => {
    agreed = false;
    const before = calls(server).length;
    const declining = await secondClient(at(id), URLS, "decline");
    expect(String(await declining.client.callTool({ name: "open", arguments: {} }).catch(String))).toContain("did not open");
    expect(calls(server)).toHaveLength(before + 1);
    await declining.client.close();
    expect((await post(at(id), team.apiKey, stateless(1, "tools/call", { name: "open" }))).body.error).toMatchObject({
      code: -32042,
      data: { elicitations: LINKS },
    });
  });
});

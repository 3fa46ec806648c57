import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { rowOf } from "../../support/worlds/admin.ts";
import { inSession, type OddServers, startOddServers } from "../../support/tool-servers/odd-servers.ts";
import { rawStream } from "../../support/formats/raw-stream.ts";
import { events, toolNamed, type ScriptedAnswer } from "../../support/tool-servers/scripted-tool-server.ts";
import { post, stateless, textOf } from "./mcp-harness.ts";

/** Servers that follow the letter of the protocol, or nearly, but not its conventions. */
let world: OddServers["world"];
let team: OddServers["team"];
let at: OddServers["at"];
let serve: OddServers["serve"];
let sessionAt: OddServers["sessionAt"];
let closing: OddServers["closing"];
let end: OddServers["end"];

beforeAll(async () => {
  ({ world, team, at, serve, sessionAt, closing, end } = await startOddServers());
});
afterAll(() => end());

describe.each(["handshake", "stateless"] as const)("unusual forms of answers of a %s server", (dialect) => {
  const TOOLS = { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: [toolNamed("open"), toolNamed("closed")] };
  const answerTo = (id: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result: TOOLS });
  const FORMS: Readonly<Record<number, (id: unknown) => Response>> = {
    101: (id) => Response.json([JSON.parse(answerTo(id))]),
    102: (id) =>
      Response.json([
        { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } },
        JSON.parse(answerTo(id)),
      ]),
    103: (id) => events(`data: [${answerTo(id)}]\n\n`),
    104: (id) => new Response(answerTo(id), { headers: { "content-type": "text/plain" } }),
    105: (id) => new Response(answerTo(id), { headers: { "content-type": "" } }),
    106: (id) => events(`data: ${answerTo(String(id))}\n\ndata: ${answerTo(id)}\n\n`),
    107: (id) => events(`data: ${answerTo(id)}\n\n`, 400),
  };
  let id = "";
  let session: Record<string, string> = {};
  let asked = 0;

  beforeAll(async () => {
    ({ id } = await serve(
      `forms ${dialect}`,
      dialect,
      (message) => (message?.method === "tools/list" ? FORMS[asked]?.(message.id) : undefined),
      { disabled_tools: ["closed"] },
    ));
    session = await sessionAt(id);
  });

  for (const form of Object.keys(FORMS).map(Number)) {
    test(`a tool list is filtered to what the caller may use (${form})`, async () => {
      asked = form;
      const answers = [
        await post(at(id), team.apiKey, inSession(form, "tools/list"), session),
        await post(at(id), team.apiKey, stateless(form, "tools/list")),
      ];
      asked = 0;
      for (const { text } of answers) expect(text).not.toContain("closed");
      if (form !== 107) expect(answers.map(({ body }) => body.result.tools)).toEqual([[toolNamed("open")], [toolNamed("open")]]);
    });
  }
});

test("a caller gets method not found for methods that only the other protocol version has", async () => {
  const { id, server } = await serve("the other's methods", "stateless", (message) =>
    message?.method === "subscriptions/listen"
      ? events(
          `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: { notifications: {} } })}\n\n`,
        )
      : undefined,
  );
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "the other's methods",
    members: [{ mcp_server_id: id, slug: "m" }],
    group_ids: [team.groupId],
  });
  for (const path of [at(id), `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`]) {
    const begun = await post(path, team.apiKey, {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    });
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const before = server.seen.length;
    for (const method of ["subscriptions/listen", "server/discover"])
      expect(
        (await post(path, team.apiKey, inSession(1, method, { notifications: { toolsListChanged: true } }), session)).body.error.code,
      ).toBe(-32601);
    expect(server.seen).toHaveLength(before);
    for (const method of ["ping", "resources/subscribe"])
      expect((await post(path, team.apiKey, stateless(1, method, { uri: "test://x" }))).body.error.code).toBe(-32601);
  }
  for (const cursor of ["junk", 5])
    expect(
      (await post(`${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`, team.apiKey, stateless(1, "tools/list", { cursor }))).body
        .error.code,
    ).toBe(-32602);
});

test("an answer that is not a protocol message is refused; an error response keeps its status", async () => {
  const { id } = await serve(
    "unreadable",
    "handshake",
    (message) => {
      if (message?.method === "tools/call") return new Response("forty-two", { headers: { "content-type": "text/plain" } });
      if (message?.method === "prompts/list") return new Response("no session", { status: 404 });
      return message?.method === "tools/list" && message.params?.cursor === "x" ? new Response("closed", { status: 400 }) : undefined;
    },
    { disabled_tools: ["closed"] },
  );
  const session = await sessionAt(id);
  const called = await post(at(id), team.apiKey, inSession(1, "tools/call", { name: "open" }), session);
  expect([called.status, called.body.error.data.code]).toEqual([502, "upstream_invalid_response"]);
  expect((await rowOf(world.admin, { server_id: id, mcp_method: "tools/call" })).error_type).toBe("upstream_invalid_response");
  const lost = await fetch(at(id), {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey, ...session },
    body: JSON.stringify(inSession(2, "prompts/list")),
  });
  expect([lost.status, await lost.text()]).toEqual([404, "no session"]);
  const listed = await fetch(at(id), {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey, ...session },
    body: JSON.stringify(inSession(3, "tools/list", { cursor: "x" })),
  });
  expect([listed.status, await listed.text()]).toEqual([400, ""]);
});

test("a stream that falls silent times out, even after a log message", async () => {
  const { id } = await serve("silent", "handshake", (message) => {
    if (message?.method !== "tools/call") return undefined;
    const log = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: { id: 1 } } };
    return new Response(
      new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(log)}\n\n`)) }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  const called = await post(at(id), team.apiKey, inSession(1, "tools/call", { name: "open" }), await sessionAt(id));
  expect(called.body).toEqual({
    jsonrpc: "2.0",
    id: 1,
    error: { code: 4031, message: "The tool server did not answer in time.", data: { code: "upstream_timeout" } },
  });
  expect((await rowOf(world.admin, { server_id: id, mcp_method: "tools/call" })).error_type).toBe("upstream_timeout");
});

describe("discovery", () => {
  const paged =
    (pages: (cursor: string | undefined) => Response | object): ScriptedAnswer =>
    (message) =>
      message?.method === "tools/list" ? pages(message.params?.cursor) : undefined;
  const refresh = (id: string) => world.admin.post(`/v1/admin/mcp-servers/${id}/refresh-capabilities`, {});

  test("of a server with NUL characters and lone surrogates stores them replaced", async () => {
    const { id } = await serve("unholdable", "handshake", (message) => {
      if (message?.method === "initialize")
        return {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, experimental: { "x\0": {} } },
          serverInfo: { name: "n\0", version: "v\ud800" },
          instructions: `${"i".repeat(19_999)}\u{1F600}`,
        };
      return message?.method === "tools/list"
        ? { tools: [toolNamed("open"), { ...toolNamed("b\0d"), description: "half \udc00" }] }
        : undefined;
    });
    const server = await world.admin.get(`/v1/admin/mcp-servers/${id}`);
    expect([server.dialect, server.server_name, server.server_version, server.tools.map(({ name }: { name: string }) => name)]).toEqual([
      "handshake",
      "n\ufffd",
      "v\ufffd",
      ["open", "b\ufffdd"],
    ]);
    // Unchanged tools are the same in the next discovery.
    expect((await refresh(id)).diff).toMatchObject({ added: [], removed: [], changed: [] });
    const { snapshots } = await world.admin.get(`/v1/admin/mcp-servers/${id}/snapshots`);
    expect(snapshots[0].tools[1]).toMatchObject({ name: "b\ufffdd", description: "half \ufffd" });
  });

  test.each(["handshake", "stateless"] as const)("of a %s server whose list fails midway keeps the known tools", async (dialect) => {
    let broken = false;
    const { id } = await serve(
      `breaking ${dialect}`,
      dialect,
      paged((cursor) =>
        cursor === undefined
          ? { resultType: "complete", tools: [toolNamed("open")], nextCursor: "2" }
          : broken
            ? new Response("", { status: 500 })
            : { resultType: "complete", tools: [toolNamed("late")], nextCursor: "" },
      ),
    );
    broken = true;
    expect(await refresh(id)).toMatchObject({
      status: "inconclusive",
      diff: null,
      server: { tools: [{ name: "open" }, { name: "late" }] },
    });
  });

  test("and lists of a virtual server read every page, and an endless list is refused", async () => {
    let endless = false;
    const { id } = await serve(
      "many pages",
      "handshake",
      paged((cursor = "0") => ({
        tools: [toolNamed(`tool_${cursor}`)],
        ...(endless || cursor !== "119" ? { nextCursor: String(Number(cursor) + 1) } : {}),
      })),
    );
    expect((await world.admin.get(`/v1/admin/mcp-servers/${id}`)).tools).toHaveLength(120);
    const virtual = await world.admin.post("/v1/admin/virtual-servers", {
      tenant_id: "default",
      name: "many pages",
      members: [{ mcp_server_id: id, slug: "m" }],
      group_ids: [team.groupId],
    });
    const list = async () =>
      (await post(`${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`, team.apiKey, stateless(1, "tools/list"))).body.result;
    expect((await list()).tools).toHaveLength(120);
    endless = true;
    expect(await list()).toMatchObject({ tools: [], _meta: { "dev.gatehouse/unavailable": ["m"] } });
    expect((await refresh(id)).status).toBe("inconclusive");
  });
});

describe("request IDs beyond double precision", () => {
  const LONG = "9007199254740993";
  const META =
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}';
  const ask = async (id: string, headers: Record<string, string>, body: string) => (await post(at(id), team.apiKey, body, headers)).text;

  test.each(["handshake", "stateless"] as const)("are returned unchanged in answers and refusals of a %s server", async (dialect) => {
    const { id } = await serve(
      `long ids ${dialect}`,
      dialect,
      (message) => (message?.method === "tools/call" ? { resultType: "complete", content: [] } : undefined),
      { disabled_tools: ["closed"] },
    );
    const session = await sessionAt(id);
    for (const name of ["open", "closed"]) {
      for (const [headers, meta] of [
        [session, ""],
        [{}, `,${META}`],
      ] as const) {
        const text = await ask(id, headers, `{"jsonrpc":"2.0","id":${LONG},"method":"tools/call","params":{"name":"${name}"${meta}}}`);
        // The scripted server parses numbers with limited precision, like this test, so its passed-through answers contain the rounded ID.
        const passed = name === "open" && (dialect === "handshake") === (meta === "");
        expect(text).toContain(`"id":${passed ? Number(LONG) : LONG},`);
      }
    }
    expect((await rowOf(world.admin, { server_id: id, mcp_request_id: LONG })).mcp_method).toBe("tools/call");
  });

  test("are returned unchanged in answers to the server's questions in the other protocol version", async () => {
    const answered: string[] = [];
    const { id, server } = await serve("asks", "handshake", (message) => {
      if (message?.method !== "tools/call") return undefined;
      const question = `{"jsonrpc":"2.0","id":${LONG},"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}`;
      return new Response(
        new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${question}\n\n`)) }),
        { headers: { "content-type": "text/event-stream" } },
      );
    });
    const call = (rest: string) => ask(id, {}, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open",${rest}${META}}}`);
    const asked = JSON.parse(await call(""));
    const { requestState } = asked.result;
    // A retry without the answer is asked again.
    for (const given of ["", '"inputResponses":{"other":{}},'])
      expect(JSON.parse(await call(`"requestState":"${requestState}",${given}`))).toEqual(asked);
    await call(`"requestState":"${requestState}","inputResponses":{"input":{"action":"decline"}},`);
    for (const { text } of server.seen) if (text.includes('"decline"')) answered.push(text);
    expect(answered).toEqual([`{"jsonrpc":"2.0","id":${LONG},"result":{"action":"decline"}}`]);
  });
});

test("a number and the same number as a string are two request IDs for cancellation", async () => {
  let release: () => void = () => undefined;
  let arrived: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const both = new Promise<void>((resolve) => {
    let calls = 0;
    arrived = () => void (++calls === 2 && resolve());
  });
  const { id } = await serve("two ids", "stateless", async (message) => {
    if (message?.method !== "tools/call") return undefined;
    arrived();
    await released;
    return { resultType: "complete", content: [] };
  });
  const session = await sessionAt(id);
  const call = (requestId: number | string) =>
    post(at(id), team.apiKey, { jsonrpc: "2.0", id: requestId, method: "tools/call", params: { name: "open" } }, session);
  const [number, text] = [call(1), call("1")];
  await both;
  expect(
    (await post(at(id), team.apiKey, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "1" } }, session)).status,
  ).toBe(202);
  expect((await text).body).toMatchObject({ id: "1", error: { code: 4031 } });
  release();
  expect((await number).body).toEqual({ jsonrpc: "2.0", id: 1, result: { content: [] } });
});

test("a server has its full timeout again after its question was answered", async () => {
  const encoder = new TextEncoder();
  let answered: () => void = () => undefined;
  const { id } = await serve("thinks", "handshake", (message) => {
    if (message?.method === undefined && message !== null) answered();
    if (message?.method !== "tools/call") return undefined;
    const say = (value: object) => encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`);
    return new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(
            say({ id: 1, method: "elicitation/create", params: { message: "Who?", requestedSchema: { type: "object", properties: {} } } }),
          );
          answered = () =>
            void setTimeout(
              () => controller.enqueue(say({ id: message.id, result: { content: [{ type: "text", text: "thought" }] } })),
              1_200,
            );
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "thinks",
    members: [{ mcp_server_id: id, slug: "t" }],
    group_ids: [team.groupId],
  });
  const client = new Client({ name: "slow", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => {
    await Bun.sleep(1_200);
    return { action: "accept" as const, content: {} };
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`), {
      requestInit: { headers: { "x-api-key": team.apiKey } },
    }) as never,
  );
  expect(textOf(await client.callTool({ name: "t__open", arguments: {} }))).toBe("thought");
  await client.close();
});

test("a server that continues without the answer to its question is not blocked by it", async () => {
  const encoder = new TextEncoder();
  const { id, server } = await serve("impatient", "handshake", (message) => {
    if (message?.method !== "tools/call") return undefined;
    const say = (value: object) => encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`);
    const ask = (question: number) =>
      say({
        id: question,
        method: "elicitation/create",
        params: { message: `Who ${question}?`, requestedSchema: { type: "object", properties: {} } },
      });
    const rest = [
      ask(1),
      ask(2),
      say({ method: "notifications/cancelled", params: { requestId: 1, reason: "too late" } }),
      say({ id: message.id, result: { content: [{ type: "text", text: "went on" }] } }),
    ];
    return new Response(new ReadableStream({ start: (controller) => rest.forEach((piece) => controller.enqueue(piece)) }), {
      headers: { "content-type": "text/event-stream" },
    });
  });
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "impatient",
    members: [{ mcp_server_id: id, slug: "i" }],
    group_ids: [team.groupId],
  });
  const url = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  const begun = await post(url, team.apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: { name: "raw", version: "1" } },
  });
  const called = await post(url, team.apiKey, inSession(1, "tools/call", { name: "i__open" }), {
    "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
  });
  const messages = called.text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)));
  expect(messages.map(({ method, params, result }) => [method, params?.message ?? params?.reason ?? result?.content[0].text])).toEqual([
    ["elicitation/create", "Who 1?"],
    ["elicitation/create", "Who 2?"],
    ["notifications/cancelled", "too late"],
    [undefined, "went on"],
  ]);
  expect(messages[2].params.requestId).toBe(messages[0].id);
  // Nor does the server get an error for a question that is over.
  expect(server.seen.filter(({ text }) => text.includes('"error"'))).toEqual([]);
});

test("a server that asks too many questions is refused further ones, and withdrawn questions do not extend its timeout", async () => {
  const encoder = new TextEncoder();
  const { id, server } = await serve("curious", "handshake", (message) => {
    if (message?.method !== "tools/call") return undefined;
    const say = (value: object) => encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`);
    const ids = Array.from({ length: 20 }, (_, before) => before + 1);
    const asks = ids.map((question) =>
      say({
        id: question,
        method: "elicitation/create",
        params: { message: `Who ${question}?`, requestedSchema: { type: "object", properties: {} } },
      }),
    );
    const takes = ids.map((requestId) => say({ method: "notifications/cancelled", params: { requestId } }));
    return new Response(new ReadableStream({ start: (controller) => [...asks, ...takes].forEach((piece) => controller.enqueue(piece)) }), {
      headers: { "content-type": "text/event-stream" },
    });
  });
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "curious",
    members: [{ mcp_server_id: id, slug: "c" }],
    group_ids: [team.groupId],
  });
  const url = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  const begun = await post(url, team.apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: { name: "raw", version: "1" } },
  });
  const called = await post(url, team.apiKey, inSession(1, "tools/call", { name: "c__open" }), {
    "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
  });
  expect(called.text).toContain("upstream_timeout");
  expect([called.text.split("elicitation/create").length - 1, called.text.split("notifications/cancelled").length - 1]).toEqual([16, 16]);
  const refused = server.seen.map(({ text }) => JSON.parse(text || "{}")).filter(({ error }) => error !== undefined);
  expect(refused.map(({ id: question, error }) => [question, error.code])).toEqual([17, 18, 19, 20].map((question) => [question, -32601]));
});

test("an event with CR line ends does not wait for the next event", async () => {
  let proceed: () => void = () => undefined;
  const proceeding = new Promise<void>((resolve) => (proceed = resolve));
  const { id } = await serve("returns", "handshake", (message) => {
    if (message?.method !== "tools/call") return undefined;
    const write = (controller: ReadableStreamDefaultController<Uint8Array>, value: object) =>
      controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\r\r`));
    return new Response(
      new ReadableStream({
        async start(controller) {
          write(controller, { method: "notifications/progress", params: { progressToken: 1, progress: 1 } });
          await proceeding;
          write(controller, { id: message.id, result: { content: [] } });
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  const stream = rawStream(
    at(id),
    "POST",
    { accept: "application/json, text/event-stream", "x-api-key": team.apiKey, ...(await sessionAt(id)) },
    JSON.stringify(inSession(5, "tools/call", { name: "open" })),
  );
  closing(stream);
  await stream.until("progressToken");
  proceed();
  await stream.until('"id":5,"result"');
});

test("after a header mismatch error the tools are listed again and the call is repeated once", async () => {
  let header = "Region";
  const tool = () => ({
    name: "place",
    inputSchema: { type: "object", properties: { where: { type: "string", "x-mcp-header": header } } },
  });
  const { id, server } = await serve("moves its headers", "stateless", (message, request) => {
    if (message?.method === "tools/list") return { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: [tool()] };
    if (message?.method !== "tools/call") return undefined;
    if (request.headers.get(`mcp-param-${header}`) === "north")
      return { resultType: "complete", content: [{ type: "text", text: header }] };
    return Response.json({ jsonrpc: "2.0", id: message.id, error: { code: -32020, message: "the header is missing" } }, { status: 400 });
  });
  const session = await sessionAt(id);
  const call = () => post(at(id), team.apiKey, inSession(1, "tools/call", { name: "place", arguments: { where: "north" } }), session);
  expect((await call()).body.result.content[0].text).toBe("Region");
  header = "Zone";
  expect((await call()).body.result.content[0].text).toBe("Zone");
  expect(server.seen.filter(({ text }) => text.includes("tools/call")).length).toBe(3);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ScriptedAnswer, type ScriptedToolServer, startScriptedToolServer } from "../../support/tool-servers/scripted-tool-server.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, statelessClient, type Team, textOf } from "./mcp-harness.ts";

/** How handshake servers ask: several questions at once, or on the session's stream before their response even has a head. */
let world: World;
let team: Team;
const servers: ScriptedToolServer[] = [];
const encoder = new TextEncoder();
const form = (message: string) => ({ message, requestedSchema: { type: "object", properties: { name: { type: "string" } } } });
const asked = (id: string, message: string) =>
  encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", id, method: "elicitation/create", params: form(message) })}\n\n`);

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "asked together");
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await world.end();
});

async function serve(name: string, answer: ScriptedAnswer): Promise<string> {
  const server = startScriptedToolServer("handshake", answer);
  servers.push(server);
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: server.baseUrl });
  await grant(world.admin, name, id, [team.groupId]);
  return `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
}

/** A server that asks all these questions at once, and answers with the replies. */
function asksTogether(ids: readonly string[]): ScriptedAnswer {
  const given = new Map<string, unknown>();
  let finish = () => {};
  return (message) => {
    if (message?.method === undefined && ids.includes(String(message?.id))) {
      const { result } = message as { result?: { content?: { name?: string } } };
      given.set(String(message?.id), result?.content?.name);
      if (given.size === ids.length) finish();
    }
    if (message?.method !== "tools/call") return undefined;
    return new Response(
      new ReadableStream({
        start(controller) {
          for (const id of ids) controller.enqueue(asked(id, `Who is ${id}?`));
          finish = () => {
            const result = { content: [{ type: "text", text: JSON.stringify(ids.map((id) => given.get(id))) }] };
            controller.enqueue(encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}\n\n`));
            controller.close();
          };
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  };
}

describe("several questions of a handshake server at once", () => {
  const accept = (name: string) => ({ action: "accept", content: { name } });

  test("reach a stateless client together, and again until all are answered", async () => {
    const url = await serve("asks three", asksTogether(["a", "b", "c"]));
    const call = async (more: object) => (await post(url, team.apiKey, stateless(1, "tools/call", { name: "open", ...more }))).body.result;
    const first = await call({});
    expect(first).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        input: { method: "elicitation/create", params: form("Who is a?") },
        input_2: { params: form("Who is b?") },
        input_3: { params: form("Who is c?") },
      },
    });
    const { requestState } = first;
    expect(await call({ requestState, inputResponses: { input: accept("Ada"), input_3: accept("Carl") } })).toEqual(first);
    const answered = await call({ requestState, inputResponses: { input: accept("Ada"), input_2: accept("Bo"), input_3: accept("Carl") } });
    expect(JSON.parse(textOf(answered))).toEqual(["Ada", "Bo", "Carl"]);
  });

  test("are answered by an official client", async () => {
    const client = await statelessClient(await serve("asks two", asksTogether(["a", "b"])), team.apiKey);
    expect(JSON.parse(textOf(await client.callTool({ name: "open", arguments: {} })))).toEqual(["Ada", "Ada"]);
    await client.close();
  });
});

/** A server whose answers are plain JSON: its questions go out on the session's stream before the answer begins. */
function asksBesides(answer: (message: { id: unknown }) => Response): ScriptedAnswer {
  let ask: (question: Uint8Array) => void = () => {};
  let answered = () => {};
  return async (message, request) => {
    if (request.method === "GET")
      return new Response(new ReadableStream({ start: (controller) => void (ask = (question) => controller.enqueue(question)) }), {
        headers: { "content-type": "text/event-stream" },
      });
    if (message?.method === undefined && message?.id === "q") answered();
    if (message?.method !== "tools/call") return undefined;
    const given = new Promise<void>((resolve) => (answered = resolve));
    ask(asked("q", "Who are you?"));
    await given;
    return answer(message as { id: unknown });
  };
}

describe("a question on the session's stream before the response head", () => {
  const done = ({ id }: { id: unknown }) => Response.json({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }] } });

  test("is answered", async () => {
    const client = await statelessClient(await serve("asks besides", asksBesides(done)), team.apiKey);
    expect(textOf(await client.callTool({ name: "open", arguments: {} }))).toBe("done");
    await client.close();
  });

  test("may be followed by a failure, which reaches the client", async () => {
    const url = await serve(
      "asks, then fails",
      asksBesides(() => new Response("no", { status: 500 })),
    );
    const client = await statelessClient(url, team.apiKey);
    const failure = await client.callTool({ name: "open", arguments: {} }).catch((error: Error) => error);
    expect((failure as Error).message).toContain("The tool server failed (HTTP 500)");
    await client.close();
  });
});

test("a handshake server gets a cancellation when the caller that answered it disconnects", async () => {
  const answered = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<unknown>();
  let called: unknown;
  const url = await serve("asks and thinks", (message) => {
    if (message?.method === undefined && message?.id === "who") answered.resolve();
    if (message?.method === "notifications/cancelled") cancelled.resolve(message.params);
    if (message?.method !== "tools/call") return undefined;
    called = message.id;
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(asked("who", "Who is it?")) }), {
      headers: { "content-type": "text/event-stream" },
    });
  });
  const { requestState } = (await post(url, team.apiKey, stateless(1, "tools/call", { name: "open" }))).body.result;
  const caller = new AbortController();
  const left = fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "x-api-key": team.apiKey },
    body: JSON.stringify(
      stateless(2, "tools/call", { name: "open", requestState, inputResponses: { input: { action: "accept", content: { name: "Ada" } } } }),
    ),
    signal: caller.signal,
  }).catch(() => undefined);
  await answered.promise;
  caller.abort();
  await left;
  // The reason is the disconnect, not the timeout, which would end the exchange later.
  expect(await cancelled.promise).toEqual({ requestId: called, reason: "the caller hung up" });
});

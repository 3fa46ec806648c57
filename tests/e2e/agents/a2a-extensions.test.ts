import { afterAll, beforeAll, expect, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import { verifyAgentCardSignature } from "@a2a-js/sdk";
import { rowOf } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";
import { call, eventsIn, grantAgent, message, oldClient, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Protocol extensions: requested by callers, activated by agents, required by some. */
const TRACING = "https://extensions.example/tracing/v1";
const TIMES = "https://extensions.example/times/v1";
let world: World;
let team: Team;
let required = false;
let old = false;
const heard: Record<string, string | null>[] = [];
const agent = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/.well-known/")) return Response.json(card());
    heard.push({ new: request.headers.get("a2a-extensions"), old: request.headers.get("x-a2a-extensions") });
    // The agent activates the one it supports, and also claims one that nobody requested.
    const headers = { [old ? "x-a2a-extensions" : "a2a-extensions"]: `${TRACING},https://extensions.example/unasked` };
    if (old) {
      const { id }: any = await request.json();
      const said = { kind: "message", messageId: "m", role: "agent", parts: [{ kind: "text", text: "hello" }] };
      return Response.json({ jsonrpc: "2.0", id, result: said }, { headers });
    }
    const said = { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }], extensions: [TRACING] } };
    if (pathname !== "/message:stream") return Response.json(said, { headers });
    return new Response(`data: ${JSON.stringify(said)}\n\n`, { headers: { ...headers, "content-type": "text/event-stream" } });
  },
});
const url = `http://127.0.0.1:${agent.port}`;
const card = () => ({
  name: "Extended",
  description: "x",
  version: "1",
  capabilities: {
    streaming: true,
    extensions: [
      { uri: TRACING, description: "Traces", required, params: { depth: 3 } },
      { uri: TIMES, required: false, params: { unset: "" } },
      { description: "of no address" },
    ],
  },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "s", description: "s", tags: ["s"] }],
  ...(old
    ? { protocolVersion: "0.3.0", url: `${url}/rpc`, preferredTransport: "JSONRPC" }
    : { supportedInterfaces: [{ url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }] }),
});
let id = "";
let base = "";

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "callers");
  id = (await registerAgent(world.admin, "extended", url)).id;
  await grantAgent(world.admin, id, [team.groupId]);
  base = `${world.gateway.runtimeUrl}/a2a/default/extended`;
});
afterAll(async () => {
  await world?.end();
  await agent.stop(true);
});

const send = (path: string, headers: Record<string, string> = {}) => call(base, team.apiKey, "POST", path, message("x"), headers);

test("an agent's card lists its extensions, and the official verifier accepts the card", async () => {
  const served: any = await (await fetch(`${base}/.well-known/agent-card.json`)).json();
  expect(served.capabilities.extensions).toEqual([{ uri: TRACING, description: "Traces", params: { depth: 3 } }, { uri: TIMES }]);
  const { keys }: any = await (await fetch(`${world.gateway.runtimeUrl}/.well-known/a2a-jwks/default`)).json();
  const keyOf = async (kid: string) => createPublicKey({ key: keys.find((key: any) => key.kid === kid), format: "jwk" });
  await verifyAgentCardSignature(keyOf as never)(served);
});

test("the response and the audit row list the requested extensions that the agent activated, also when streamed", async () => {
  for (const path of ["/message:send", "/message:stream"]) {
    const got = await send(path, { "a2a-extensions": `${TRACING}, ${TIMES}` });
    expect([got.status, got.headers.get("a2a-extensions")]).toEqual([200, TRACING]);
    const said = path.endsWith("send") ? got.body : eventsIn(got.text)[0];
    expect(said.message.extensions).toEqual([TRACING]);
    expect(heard.at(-1)).toEqual({ new: `${TRACING}, ${TIMES}`, old: null });
    const { custom_metadata: told } = await rowOf(world.admin, { id: got.headers.get("x-request-id") });
    expect(told.a2a_extensions).toEqual([TRACING]);
  }
});

test("without a request for extensions none are returned, and values that are not addresses are not forwarded", async () => {
  expect((await send("/message:send")).headers.get("a2a-extensions")).toBeNull();
  const got = await send("/message:send", { "a2a-extensions": `${"x".repeat(400)},,two words,${TIMES}` });
  expect([got.status, got.headers.get("a2a-extensions"), heard.at(-1)?.new]).toEqual([200, null, TIMES]);
});

test("a message without an extension that the card requires is refused before the agent is called", async () => {
  required = true;
  await world.admin.post(`/v1/admin/agents/${id}/refresh-card`, {});
  const before = heard.length;
  for (const path of ["/message:send", "/message:stream"]) {
    const refused = await send(path, { "a2a-extensions": TIMES });
    expect([refused.status, refused.body.error.details[0].reason]).toEqual([400, "EXTENSION_SUPPORT_REQUIRED"]);
    expect(refused.body.error.message).toContain(TRACING);
  }
  expect(heard.length).toBe(before);
  expect((await send("/message:send", { "a2a-extensions": TRACING })).status).toBe(200);
  required = false;
});

test("extensions are sent under the header name of the protocol version that the agent or client speaks", async () => {
  old = true;
  await world.admin.post(`/v1/admin/agents/${id}/refresh-card`, {});
  const got = await send("/message:send", { "a2a-extensions": TRACING });
  expect([got.status, got.headers.get("a2a-extensions"), heard.at(-1)]).toEqual([200, TRACING, { new: null, old: TRACING }]);
  const client = await oldClient(base, team.apiKey);
  const part = { kind: "text" as const, text: "x" };
  const said: any = await client.sendMessage({ message: { kind: "message", messageId: "1", role: "user", parts: [part] } });
  expect(said.parts[0].text).toBe("hello");
  const answered = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/a2a/outbound?agent=extended`, {
    method: "POST",
    headers: { "x-api-key": team.apiKey, "content-type": "application/json", "x-a2a-extensions": TRACING },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "message/send",
      params: { message: { kind: "message", messageId: "2", role: "user", parts: [part] } },
    }),
  });
  expect([answered.status, answered.headers.get("x-a2a-extensions")]).toEqual([200, TRACING]);
});

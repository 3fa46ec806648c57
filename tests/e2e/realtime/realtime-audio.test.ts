import { createServer, type Server } from "node:tls";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { selfSigned } from "../../support/processes/tls-upstream.ts";
import { until } from "../../support/until.ts";
import { RealtimeClient } from "../../support/vendors/realtime-client.ts";
import { realtimeVendor, type RealtimeVendor, type Reply } from "../../support/vendors/realtime-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";
import { rowsOf } from "../../support/worlds/admin.ts";

/** What callers say aloud, over a fake of OpenAI's Realtime API that would answer by itself. */
let world: World;
let vendor: RealtimeVendor;
let tls: Server;
let modelId: string;
let reply: (request: any, items: readonly any[]) => Reply;
const tenant = { tenant_id: "default" };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

beforeAll(async () => {
  vendor = realtimeVendor((request, items) => reply(request, items));
  world = await startWorld();
  const { admin } = world;
  const provider = { provider_key: "o", api_format: "openai", base_url: `${vendor.origin}/v1`, api_key: "vendor-secret-0001" };
  await admin.post("/v1/admin/providers", { ...tenant, ...provider });
  const prices = {
    ...{ input_cost_per_million_tokens: 4, output_cost_per_million_tokens: 16, cache_read_cost_per_million_tokens: 1 },
    ...{ audio_input_cost_per_million_tokens: 32, audio_output_cost_per_million_tokens: 64 },
  };
  const model = { name: "voice", model_name: "gpt-realtime", provider: "o", mode: "realtime", max_output_tokens: 100 };
  ({ id: modelId } = await admin.post("/v1/admin/llms", { ...tenant, ...model, ...prices }));
  tls = createServer(selfSigned(world.gateway.dataDir as string, "localhost"), (socket) => {
    const inner = connect(Number(new URL(world.gateway.runtimeUrl as string).port), "127.0.0.1");
    socket.pipe(inner).pipe(socket);
    for (const one of [socket, inner]) one.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => tls.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  tls.close();
  await world.end();
  await vendor.stop();
});

async function team(name: string): Promise<{ groupId: string; key: string }> {
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name, group_type: "team" });
  await admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: [modelId] });
  const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "k", access_mode: "shared" });
  return { groupId: group.id, key };
}

async function session(key: string): Promise<RealtimeClient> {
  const client = new RealtimeClient(world.gateway.runtimeUrl as string, "voice", bearer(key));
  await client.next("session.created");
  return client;
}

const audio = (said: string) => ({ type: "input_audio_buffer.append", audio: Buffer.from(said).toString("base64") });
const rows = (groupId: string, least: number) =>
  rowsOf(world.admin, { resource_group_id: groupId, proxy_subtype: "realtime_response" }, least);
const heardBy = (_request: unknown, items: readonly any[]) => ({ audio: `I heard: ${items.at(-1).heard}` });

test("OpenAI's JavaScript client speaks, and the gateway makes the response when the caller's turn ends", async () => {
  reply = heardBy;
  const { key, groupId } = await team("speaks");
  const api = new OpenAI({ apiKey: key, baseURL: `https://localhost:${(tls.address() as AddressInfo).port}/v1/proxy/llm` });
  const realtime = new OpenAIRealtimeWS({ model: "voice", options: { rejectUnauthorized: false } }, api);
  const said = Promise.withResolvers<string>();
  const types: string[] = [];
  realtime.on("error", said.reject);
  realtime.on("event", ({ type }) => void types.push(type));
  realtime.on("session.created", () => {
    for (const text of ["Good ", "morning."]) realtime.send(audio(text) as { type: "input_audio_buffer.append"; audio: string });
  });
  let transcript = "";
  realtime.on("response.output_audio_transcript.done", (event) => (transcript = event.transcript));
  realtime.on("response.done", () => said.resolve(transcript));
  expect(await said.promise).toBe("I heard: Good morning.");
  realtime.close();
  const order = ["input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed"];
  expect(types.filter((type) => order.includes(type))).toEqual(order);
  expect(types).toContain("conversation.item.added");
  expect(types).toContain("response.output_audio.delta");
  // One response, asked for by the gateway.
  expect(vendor.seen.filter(({ type }) => type === "response.create")).toHaveLength(1);
  const [row, ...more] = await rows(groupId, 1);
  expect(more).toEqual([]);
  expect(row).toMatchObject({ success: true, llm_model_used: "voice", llm_prompt_tokens: 100 });
});

test("audio tokens are charged at the audio prices", async () => {
  reply = heardBy;
  vendor.usage = {
    ...{ total_tokens: 150, input_tokens: 100, output_tokens: 50 },
    input_token_details: {
      text_tokens: 10,
      audio_tokens: 90,
      cached_tokens: 30,
      cached_tokens_details: { text_tokens: 0, audio_tokens: 30 },
    },
    output_token_details: { text_tokens: 20, audio_tokens: 30 },
  };
  const { key, groupId } = await team("priced");
  const client = await session(key);
  client.send(audio("Count."));
  await client.next("response.done");
  client.close();
  vendor.usage = null;
  const [row] = await rows(groupId, 1);
  expect(Number(row.llm_estimated_cost_usd)).toBeCloseTo((10 * 4 + 60 * 32 + 30 * 1 + 20 * 16 + 30 * 64) / 1e6, 9);
});

test("with turn detection off, or automatic responses off, the client asks for the response", async () => {
  reply = heardBy;
  const { key } = await team("asks");
  const client = await session(key);
  const turns = async (turn_detection: object | null) => {
    const from = client.events.length;
    client.send({ type: "session.update", session: { type: "realtime", audio: { input: { turn_detection } } } });
    return (await client.next("session.updated", from)).session.audio.input.turn_detection;
  };
  expect(await turns({ type: "server_vad", create_response: false })).toMatchObject({ create_response: false });
  client.send(audio("One."));
  await client.next("conversation.item.done");
  expect(await turns(null)).toBe(null);
  const asked = vendor.seen.filter(({ type }) => type === "response.create").length;
  client.send(audio("Gone."), { type: "input_audio_buffer.clear" }, audio("Two."), { type: "input_audio_buffer.commit" });
  await until(() => client.events.filter(({ type }) => type === "input_audio_buffer.committed").length === 2 || null);
  expect(vendor.seen.filter(({ type }) => type === "response.create")).toHaveLength(asked);
  const events = await client.ask(null);
  expect(events.find(({ type }) => type === "response.output_audio_transcript.done").transcript).toBe("I heard: Two.");
  expect(await turns({ type: "semantic_vad" })).toMatchObject({ type: "semantic_vad", create_response: true });
  expect(vendor.seen.at(-1).session.audio.input.turn_detection).toEqual({ type: "semantic_vad", create_response: false });
  client.close();
});

test("a provider never responds by itself, also if it rejects the client's settings", async () => {
  reply = heardBy;
  const { key } = await team("rejected");
  const client = await session(key);
  client.send({ type: "session.update", session: { audio: { input: { turn_detection: { type: "no_such" } } } } });
  await client.next("error");
  const asked = vendor.seen.filter(({ type }) => type === "response.create").length;
  client.send(audio("Now."));
  await client.next("response.done");
  expect(vendor.seen.slice(-1)[0].type).toBe("response.create");
  expect(vendor.seen.filter(({ type }) => type === "response.create")).toHaveLength(asked + 1);
  client.close();
});

test("a turn that ends during a response is answered after it", async () => {
  let n = 0;
  reply = (_request, items) => (n++ === 0 ? { audio: "On and on", endless: true } : heardBy(_request, items));
  const { key } = await team("waits");
  const client = await session(key);
  client.send(audio("First."));
  await client.next("response.output_audio_transcript.delta");
  client.send(audio("Second."));
  await until(() => client.events.filter(({ type }) => type === "input_audio_buffer.committed").length === 2 || null);
  client.send({ type: "response.cancel" });
  expect((await client.next("response.output_audio_transcript.done")).transcript).toBe("I heard: Second.");
  client.close();
});

test("audio that a provider reports without having got any is no turn", async () => {
  reply = heardBy;
  const { key } = await team("invented");
  const client = await session(key);
  vendor.push({ type: "input_audio_buffer.speech_stopped", audio_end_ms: 1_000, item_id: "item_x" });
  vendor.push({ type: "input_audio_buffer.committed", previous_item_id: null, item_id: "item_x" });
  vendor.push({ type: "rate_limits.updated", rate_limits: [] });
  await client.next("rate_limits.updated");
  expect(client.events.some(({ type }) => type === "input_audio_buffer.committed" || type === "response.created")).toBe(false);
  client.close();
});

test("audio counts in what a budget holds", async () => {
  reply = heardBy;
  const { key, groupId } = await team("budget");
  const limits = { llm_global_limits: { tokens: { daily_limit: 2_000 } } };
  expect((await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, limits)).status).toBe(200);
  const client = await session(key);
  client.send(audio("Short."));
  expect((await client.next("response.done")).response.status).toBe("completed");
  // A minute at up to 50 tokens a second.
  client.send(audio(`${"long ".repeat((48_000 * 60) / 5)}.`));
  expect((await client.next("error")).error.code).toBe("usage_limit_reached");
  client.close();
});

test("where a guardrail inspects what callers write, audio is refused with the reason, also in a session that began before it", async () => {
  reply = heardBy;
  const { key, groupId } = await team("guarded");
  const before = await session(key);
  const builtin = { banned_words: ["titan"], banned_words_action: "block" };
  await world.admin.post("/v1/admin/guardrails/configs", { ...tenant, name: "words", group_ids: [groupId], builtin });
  const inspected = await until(async () => {
    const client = await session(key);
    client.send(audio("Hear me."));
    const { error } = await until(() => client.events.find(({ type }) => type === "error" || type === "response.done") ?? null);
    client.close();
    return error ?? null;
  });
  expect(inspected).toMatchObject({ code: "unsupported_event", param: "type" });
  expect(inspected.message).toContain("/v1/proxy/llm/audio/transcriptions");
  const asked = vendor.seen.filter(({ type }) => type === "response.create").length;
  before.send(audio("Titan."));
  expect((await before.next("error")).error.message).toContain("guardrail or semantic policy");
  expect((await before.untilClosed()).code).toBe(1008);
  expect(vendor.seen.filter(({ type }) => type === "response.create")).toHaveLength(asked);
});

test("a parameter rule about words has audio refused too", async () => {
  const { key, groupId } = await team("words");
  const governance = { system_prompt: { banned_patterns: ["tita+n"] } };
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-governance`, { governance });
  const client = await session(key);
  client.send(audio("Titan."));
  expect((await client.next("error")).error.code).toBe("unsupported_event");
  client.close();
});

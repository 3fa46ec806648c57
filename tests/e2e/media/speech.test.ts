import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Speech with OpenAI's own client, over a fake of OpenAI's API. */
let world: World;
let vendor: FakeVendor;
/** Starts to send audio, and breaks the connection once `goOn` is called. */
let cutting: Server;
let openai: OpenAI;
let groupId: string;
/** Sends the second half of the audio. */
let goOn: () => void = () => undefined;
/** Called once the head of an answer that will be cut has been sent. */
let begun: () => void = () => undefined;
const HALF = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0, 1, 2, 3]);

const SPOKEN_USAGE = { input_tokens: 10, output_tokens: 200, total_tokens: 210 };

/** Audio as events: half of it, and the rest once `goOn` is called. */
function told(model: string): Response {
  const event = (body: object) => new TextEncoder().encode(`data: ${JSON.stringify(body)}\n\n`);
  const half = event({ type: "speech.audio.delta", audio: HALF.toString("base64") });
  const events = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(half);
      if (model !== "tells") await new Promise<void>((resolve) => (goOn = resolve));
      if (model === "tells-torn") return controller.error(new Error("torn"));
      if (model === "tells-failing") controller.enqueue(event({ type: "error", error: { message: "no voice left" } }));
      else {
        controller.enqueue(half);
        controller.enqueue(event({ type: "speech.audio.done", usage: SPOKEN_USAGE }));
      }
      controller.close();
    },
  });
  return new Response(events, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

beforeAll(async () => {
  vendor = fakeVendor(async ({ body }) => {
    const { model, stream_format } = JSON.parse(body);
    if (model === "silent") await new Promise<void>((resolve) => (goOn = resolve));
    if (stream_format === "sse" && model.startsWith("tells")) return told(model);
    if (model === "down") return Response.json({ error: { message: "down" } }, { status: 503 });
    if (model === "nonsense") return Response.json({ sorry: "no sound" });
    if (model === "refusing") return Response.json({ error: { message: "no such voice" } }, { status: 400 });
    const sound = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(HALF);
        if (model === "slow") await new Promise<void>((resolve) => (goOn = resolve));
        controller.enqueue(HALF);
        controller.close();
      },
    });
    return new Response(sound, { headers: { "content-type": "audio/mpeg" } });
  });
  cutting = createServer(async (request, response) => {
    const { model } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    response.writeHead(200, { "content-type": "audio/mpeg" });
    if (model === "clears-its-throat") response.flushHeaders();
    else response.write(HALF);
    begun();
    goOn = () => response.destroy();
  });
  await new Promise<void>((resolve) => cutting.listen(0, "127.0.0.1", resolve));
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" }));
  for (const [provider_key, api_format, base_url] of [
    ["o", "openai", `${vendor.origin}/v1`],
    ["z", "azure_openai", vendor.origin],
    ["a", "anthropic", vendor.origin],
    ["t", "openai", `http://127.0.0.1:${(cutting.address() as AddressInfo).port}/v1`],
  ])
    await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, api_key: "vendor-secret-0001" });
  const model = (name: string, more: object = { audio_output_cost_per_million_characters: 15 }, provider = "o") =>
    admin.post("/v1/admin/llms", {
      tenant_id: "default",
      name,
      model_name: name,
      provider,
      mode: "audio_speech",
      group_ids: [groupId],
      ...more,
    });
  for (const name of ["speaks", "slow", "silent", "nonsense", "refusing"]) await model(name);
  const tokens = { input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 20 };
  for (const name of ["tells", "tells-torn", "tells-failing"])
    await model(name, { audio_output_cost_per_million_characters: 15, ...tokens });
  await model("torn", { audio_output_cost_per_million_characters: 15 }, "t");
  await admin.post("/v1/admin/llm-router/routing-groups", { tenant_id: "default", id: "late-voice", mode: "audio_speech" });
  await model("clears-its-throat", { audio_output_cost_per_million_characters: 15, routing_group_id: "late-voice" }, "t");
  await model("alone", { model_name: "clears-its-throat", audio_output_cost_per_million_characters: 15 }, "t");
  await model("unpriced", {});
  await model("deployed", {}, "z");
  await model("claude", {}, "a");
  await admin.post("/v1/admin/llm-router/routing-groups", {
    tenant_id: "default",
    id: "any-voice",
    name: "Any voice",
    mode: "audio_speech",
    routing_strategy: "ordered",
    retry_after: 0,
  });
  const member = (routing_weight: number) => ({
    audio_output_cost_per_million_characters: 15,
    routing_group_id: "any-voice",
    routing_weight,
  });
  await model("first", { model_name: "down", ...member(5) });
  await model("second", member(1));
  openai = await clientOf(groupId);
});
afterAll(async () => {
  await world.end();
  await vendor.stop();
  cutting.close();
});

async function clientOf(group: string): Promise<OpenAI> {
  const { key_value: apiKey } = await world.admin.post(`/v1/admin/resource-groups/${group}/api-keys`, { name: "k", access_mode: "shared" });
  return new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
}

const rowBy = (response: Response) => rowOf(world.admin, { id: response.headers.get("x-request-id") });
const sent = () => JSON.parse(vendor.seen.at(-1)?.body as string);
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    ({ status, error }: { status: number; error: unknown }) => ({ status, error }),
  );

test("speech from text is returned, priced by characters and recorded", async () => {
  const response = await openai.audio.speech.create({ model: "speaks", voice: "alloy", input: "Good morning 🌍", response_format: "wav" });
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat([HALF, HALF]));
  expect(response.headers.get("content-type")).toBe("audio/wav");
  expect(sent()).toEqual({ model: "speaks", voice: "alloy", input: "Good morning 🌍", response_format: "wav" });
  expect(vendor.seen.at(-1)).toMatchObject({ path: "/v1/audio/speech", headers: { authorization: "Bearer vendor-secret-0001" } });
  expect(await rowBy(response)).toMatchObject({
    proxy_subtype: "audio_speech",
    llm_model_used: "speaks",
    success: true,
    media_audio_chars: 14,
    llm_estimated_cost_usd: 0.00021,
  });
});

test("persisted audio is stored completely or not at all, and its file ID is in a header", async () => {
  const ask = (model: string, chat = "memo") =>
    openai.audio.speech.create({
      model,
      voice: "alloy",
      input: "Keep me",
      persist: true,
      chat_id: chat,
    } as OpenAI.Audio.SpeechCreateParams);
  const response = await ask("speaks");
  const sound = Buffer.from(await response.arrayBuffer());
  expect(sound).toEqual(Buffer.concat([HALF, HALF]));
  expect(response.headers.get("content-type")).toBe("audio/mpeg");
  const id = response.headers.get("x-gw-file-id") as string;
  const kept = await openai.files.content(id);
  expect(Buffer.from(await kept.arrayBuffer())).toEqual(sound);
  expect(vendor.seen.at(-1)?.body).toBe('{"model":"speaks","voice":"alloy","input":"Keep me"}');
  expect(await rowBy(response)).toMatchObject({
    media_audio_chars: 7,
    llm_estimated_cost_usd: 0.000105,
    custom_metadata: { files: [{ id, size_bytes: 16 }] },
  });
  expect(await refusal(ask("nonsense"))).toMatchObject({ status: 502 });
  const before = vendor.seen.length;
  for (const chat of ["a\0b", "\udc00"])
    expect(await refusal(ask("speaks", chat))).toMatchObject({ status: 400, error: expect.stringContaining("`chat_id`") });
  expect(vendor.seen).toHaveLength(before);
  const files = `${world.gateway.runtimeUrl}/v1/proxy/files?chat_id=memo`;
  const deleted = await fetch(files, { method: "DELETE", headers: { "x-api-key": openai.apiKey as string } });
  expect(await deleted.json()).toEqual({ deleted: 1 });
  expect(await refusal(openai.files.content(id))).toMatchObject({ status: 404 });
});

test("audio streams as it arrives", async () => {
  const response = await openai.audio.speech.create({ model: "slow", voice: "alloy", input: "Slowly" });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  // Except its last bytes: the end of the stream waits for the row.
  expect(Buffer.from((await reader.read()).value as Uint8Array)).toEqual(HALF.subarray(0, -2));
  goOn();
  const rest: Uint8Array[] = [];
  for (let read = await reader.read(); !read.done; read = await reader.read()) rest.push(read.value);
  expect(Buffer.concat(rest)).toEqual(Buffer.concat([HALF.subarray(-2), HALF]));
});

test("interrupted audio is cut for the caller, and the row records it", async () => {
  const response = await openai.audio.speech.create({ model: "torn", voice: "alloy", input: "Cut" });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await reader.read()).value as Uint8Array)).toEqual(HALF.subarray(0, -2));
  goOn();
  await expect(reader.read()).rejects.toThrow();
  expect(await rowBy(response)).toMatchObject({ success: false, error_type: "upstream_interrupted", media_audio_chars: 3 });
});

/** The events as they were sent; OpenAI's client only gives the bytes. */
async function eventsOf(response: Response): Promise<{ type?: string; audio?: string; usage?: object; error?: { message: string } }[]> {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame !== "");
  return frames.map((frame) => JSON.parse(frame.slice("data: ".length)));
}
const heard = (events: Awaited<ReturnType<typeof eventsOf>>) =>
  Buffer.concat(events.flatMap(({ audio }) => (audio === undefined ? [] : [Buffer.from(audio, "base64")])));

test("speech events pass unchanged and are priced by the tokens in them", async () => {
  const response = await openai.audio.speech.create({ model: "tells", voice: "alloy", input: "Good morning", stream_format: "sse" });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events = await eventsOf(response);
  expect(heard(events)).toEqual(Buffer.concat([HALF, HALF]));
  expect(events.at(-1)).toEqual({ type: "speech.audio.done", usage: SPOKEN_USAGE });
  expect(sent()).toEqual({ model: "tells", voice: "alloy", input: "Good morning", stream_format: "sse" });
  // 10 x $1 + 200 x $20 a million.
  expect(await rowBy(response)).toMatchObject({
    ...{ proxy_subtype: "audio_speech", success: true, llm_streaming: true, media_audio_chars: 12 },
    ...{ llm_prompt_tokens: 10, llm_completion_tokens: 200, llm_estimated_cost_usd: 0.00401 },
  });
});

test("a model that returns bytes is answered as events, as they arrive", async () => {
  const response = await openai.audio.speech.create({ model: "slow", voice: "alloy", input: "Slowly", stream_format: "sse" });
  const reader = (response.clone().body as ReadableStream<Uint8Array>).getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  expect(first).toBe(`data: {"type":"speech.audio.delta","audio":"${HALF.toString("base64")}"}\n\n`);
  goOn();
  const events = await eventsOf(response);
  expect([heard(events), events.at(-1)]).toEqual([Buffer.concat([HALF, HALF]), expect.objectContaining({ type: "speech.audio.done" })]);
  expect(await rowBy(response)).toMatchObject({ success: true, media_audio_chars: 6, llm_estimated_cost_usd: 0.00009 });
});

test.each([
  ["tells-torn", "broke off"],
  ["tells-failing", "no voice left"],
  ["torn", "broke off"],
])("interrupted events of %s end with an error, and the input is charged", async (model, message) => {
  const response = await openai.audio.speech.create({ model, voice: "alloy", input: "Cut", stream_format: "sse" });
  const copy = response.clone();
  await (copy.body as ReadableStream<Uint8Array>).getReader().read();
  goOn();
  expect((await eventsOf(response)).at(-1)?.error?.message).toContain(message);
  expect(await rowBy(response)).toMatchObject({
    ...{ success: false, error_type: "upstream_interrupted", media_audio_chars: 3, llm_estimated_cost_usd: 0.000045 },
  });
});

test("a client that disconnects during the events is charged for the input", async () => {
  const leaving = new AbortController();
  const asked = { model: "tells-torn", voice: "alloy", input: "Left", stream_format: "sse" } as const;
  const response = await openai.audio.speech.create(asked, { signal: leaving.signal });
  await (response.body as ReadableStream<Uint8Array>).getReader().read();
  leaving.abort();
  expect(await rowBy(response)).toMatchObject({ error_type: "client_disconnected", media_audio_chars: 4, llm_estimated_cost_usd: 0.00006 });
  goOn();
});

test.each([{}, { persist: true }])(
  "a client that disconnects before any audio is charged for what the provider was sent (%j)",
  async (more) => {
    const leaving = new AbortController();
    const before = vendor.seen.length;
    const asked = { model: "silent", voice: "alloy", input: "Left early", ...more };
    const left = openai.audio.speech.create(asked, { signal: leaving.signal, headers: { "x-correlation-id": JSON.stringify(more) } });
    await until(() => vendor.seen.length > before);
    leaving.abort();
    await left.catch(() => undefined);
    expect(await rowOf(world.admin, { correlation_id: JSON.stringify(more) })).toMatchObject({
      ...{ error_type: "client_disconnected", llm_estimated_cost_usd: 0.00015, tags: ["usage_estimated"] },
    });
    goOn();
  },
);

test.each([
  ["late-voice", ""],
  ["late-voice", "sse"],
  ["alone", ""],
  ["alone", "sse"],
])('a client that disconnects between head and first audio of %s is charged (stream_format: "%s")', async (model, events) => {
  const leaving = new AbortController();
  const head = new Promise<void>((resolve) => (begun = resolve));
  const asked = { model, voice: "alloy", input: "Left late", ...(events === "sse" && { stream_format: "sse" as const }) };
  const correlation = `left late ${model}${events}`;
  const left = openai.audio.speech.create(asked, { signal: leaving.signal, headers: { "x-correlation-id": correlation } });
  await head;
  await Bun.sleep(200);
  leaving.abort();
  await left.then((response) => response.arrayBuffer()).catch(() => undefined);
  expect(await rowOf(world.admin, { correlation_id: correlation })).toMatchObject({
    ...{ error_type: "client_disconnected", llm_estimated_cost_usd: 0.000135, tags: ["usage_estimated"] },
  });
  goOn();
});

test("audio interrupted before its first byte is charged, because the provider was sent the request", async () => {
  const head = new Promise<void>((resolve) => (begun = resolve));
  const asked = openai.audio.speech.create(
    { model: "alone", voice: "alloy", input: "Cut early" },
    { headers: { "x-correlation-id": "cut early" }, maxRetries: 0 },
  );
  await head;
  await Bun.sleep(100);
  goOn();
  await asked.then((response) => response.arrayBuffer()).catch(() => undefined);
  expect(await rowOf(world.admin, { correlation_id: "cut early" })).toMatchObject({
    ...{ error_type: "upstream_interrupted", llm_estimated_cost_usd: 0.000135, tags: ["usage_estimated"] },
  });
});

test("Azure deployments speak too; a response that is not audio becomes 502, and invalid fields are refused by name", async () => {
  const response = await openai.audio.speech.create({ model: "deployed", voice: { id: "voice-1" }, input: "Hello" });
  expect((await response.arrayBuffer()).byteLength).toBe(16);
  expect(vendor.seen.at(-1)?.path).toBe("/openai/v1/audio/speech");
  const ask = (model: string, more: object = {}) => refusal(openai.audio.speech.create({ model, voice: "alloy", input: "Hello", ...more }));
  expect(await ask("nonsense")).toMatchObject({ status: 502 });
  expect(await ask("refusing")).toMatchObject({ status: 400, error: { message: "no such voice" } });
  expect(await ask("claude")).toMatchObject({ status: 400 });
  for (const [field, value] of Object.entries({
    voice: "",
    speed: 9,
    response_format: "midi",
    persist: "yes",
    stream_format: "midi",
    input: " ",
  }))
    expect(await ask("speaks", { [field]: value })).toMatchObject({ status: 400, error: expect.stringContaining(`\`${field}\``) });
  expect(await ask("speaks", { stream_format: "sse", persist: true })).toMatchObject({ error: expect.stringContaining("`stream_format`") });
});

test("a guardrail inspects the text to be spoken, and a hard budget holds what it may cost", async () => {
  const { admin } = world;
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "careful", parent_group_id: groupId });
  await admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "careful",
    group_ids: [id],
    surfaces: { audio_tts_input: true },
    builtin: { pii_enabled: true, pii_action: "redact" },
  });
  const careful = await clientOf(id);
  const say = (model: string, input: string) => careful.audio.speech.create({ model, voice: "alloy", input });
  await (await say("speaks", "Write to joe@example.com")).arrayBuffer();
  expect(sent().input).toBe("Write to [REDACTED:email]");

  await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 0.001, hard_stop: true } },
  });
  expect(await refusal(say("unpriced", "Hello"))).toMatchObject({ status: 403 });
  const before = vendor.seen.length;
  expect(await refusal(say("speaks", "x".repeat(100)))).toMatchObject({ status: 429 });
  expect(vendor.seen).toHaveLength(before);
  await (await say("speaks", "Hello")).arrayBuffer();
});

test("a routing group falls back to another member for speech", async () => {
  const response = await openai.audio.speech.create({ model: "any-voice", voice: "alloy", input: "Hello" });
  expect((await response.arrayBuffer()).byteLength).toBe(16);
  expect(await rowBy(response)).toMatchObject({ llm_model_used: "second", llm_used_fallback: true, media_audio_chars: 5 });
});

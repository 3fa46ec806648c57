import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { wav } from "../../support/formats/sounds.ts";
import { until } from "../../support/until.ts";
import { startTranscriber } from "../../support/vendors/transcriber.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Transcription with OpenAI's own client, over a fake of OpenAI's API. */
let world: World;
let vendor: ReturnType<typeof startTranscriber>;
let openai: OpenAI;
let groupId: string;
const SOUND = wav(3);
const SAID = "Mail joe@example.com or call 415 555 2671 tomorrow";

beforeAll(async () => {
  vendor = startTranscriber();
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" }));
  for (const [provider_key, api_format] of [
    ["o", "openai"],
    ["z", "azure_openai"],
    ["a", "anthropic"],
  ])
    await admin.post("/v1/admin/providers", {
      tenant_id: "default",
      provider_key,
      api_format,
      base_url: api_format === "azure_openai" ? vendor.baseUrl.replace("/v1", "") : vendor.baseUrl,
      api_key: "vendor-secret-0001",
    });
  const model = (name: string, model_name: string, more: object = {}) =>
    admin.post("/v1/admin/llms", {
      tenant_id: "default",
      name,
      model_name,
      provider: "o",
      mode: "audio_transcription",
      group_ids: [groupId],
      ...more,
    });
  const bySecond = { audio_input_cost_per_second: 0.0001 };
  const byToken = { input_cost_per_million_tokens: 2.5, output_cost_per_million_tokens: 10, audio_input_cost_per_million_tokens: 6 };
  await model("hears", "whisper-1", bySecond);
  await model("hears-by-token", "gpt-transcribe", byToken);
  await model("hears-slowly", "slow", byToken);
  await model("tells-nothing", "silent-1", bySecond);
  await model("unpriced", "whisper-1");
  await model("deployed", "whisper-1", { provider: "z", ...bySecond });
  await model("claude", "claude", { provider: "a" });
  await admin.post("/v1/admin/llm-router/routing-groups", {
    tenant_id: "default",
    id: "any-ear",
    name: "Any ear",
    mode: "audio_transcription",
    routing_strategy: "ordered",
    retry_after: 0,
  });
  await model("first", "down", { ...bySecond, routing_group_id: "any-ear", routing_weight: 5 });
  await model("second", "whisper-1", { ...bySecond, routing_group_id: "any-ear", routing_weight: 1 });
  openai = await clientOf(groupId);
});
afterAll(async () => {
  await world.end();
  await vendor.stop();
});

async function clientOf(group: string): Promise<OpenAI> {
  const { key_value: apiKey } = await world.admin.post(`/v1/admin/resource-groups/${group}/api-keys`, { name: "k", access_mode: "shared" });
  return new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
}

const sound = (bytes: Uint8Array = SOUND, name = "memo.wav") => toFile(bytes, name, { type: "application/x-lies" });
const rowBy = (response: Response) => rowOf(world.admin, { id: response.headers.get("x-request-id") });
const fieldsSent = () => Object.fromEntries(vendor.heard.at(-1)?.fields ?? []);
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    ({ status, error, message }: { status: number; error: unknown; message: string }) => ({ status, error, message }),
  );
const spooled = () => readdir(join(world.gateway.dataDir, "spool"));

test("persisted audio is stored, for streamed transcripts too, and its file ID is in a header", async () => {
  for (const more of [{ model: "hears" }, { model: "hears-by-token", stream: true }, { model: "hears", persist: "True" }] as const) {
    const asked = { file: await toFile(SOUND, "memo.wav"), persist: true, chat_id: "memo", ...more };
    const { response } = await openai.audio.transcriptions
      .create(asked as unknown as OpenAI.Audio.TranscriptionCreateParams)
      .withResponse();
    await response.text().catch(() => undefined);
    const id = response.headers.get("x-gw-file-id") as string;
    expect(Buffer.from(await (await openai.files.content(id)).arrayBuffer())).toEqual(Buffer.from(SOUND));
  }
});

test("a transcription is priced by seconds and recorded, and leaves no copy of the audio", async () => {
  const { data, response } = await openai.audio.transcriptions
    .create({ file: await sound(), model: "hears", prompt: "A memo", language: "en" })
    .withResponse();
  expect(data.text).toBe(SAID);
  const sha256 = createHash("sha256").update(SOUND).digest("hex");
  expect(vendor.heard.at(-1)).toMatchObject({
    path: "/v1/audio/transcriptions",
    headers: { authorization: "Bearer vendor-secret-0001", "content-length": expect.any(String) },
    file: { name: "memo.wav", type: expect.stringContaining("wav"), bytes: SOUND.byteLength, sha256 },
  });
  expect(fieldsSent()).toEqual({ model: "whisper-1", prompt: "A memo", language: "en" });
  const row = await rowBy(response);
  expect(row).toMatchObject({
    proxy_subtype: "audio_transcriptions",
    llm_model_used: "hears",
    success: true,
    media_audio_seconds_input: 3,
    llm_estimated_cost_usd: 0.0003,
  });
  expect(row.request_body_preview).toContain(sha256);
  await until(spooled, (names) => names.length === 0);
});

test("a model priced by tokens is charged by the tokens it reports", async () => {
  const { response } = await openai.audio.transcriptions.create({ file: await sound(), model: "hears-by-token" }).withResponse();
  // 10 x $2.5 + 30 x $6 + 9 x $10 a million.
  expect(await rowBy(response)).toMatchObject({
    llm_prompt_tokens: 40,
    llm_completion_tokens: 9,
    llm_estimated_cost_usd: 0.000295,
    media_audio_seconds_input: 3,
  });
});

test("without reported usage a transcription is charged by the measured duration of the audio", async () => {
  const { response } = await openai.audio.transcriptions.create({ file: await sound(wav(7.5)), model: "tells-nothing" }).withResponse();
  expect(await rowBy(response)).toMatchObject({
    media_audio_seconds_input: 7.5,
    llm_estimated_cost_usd: 0.0008,
    tags: ["usage_estimated"],
  });
});

test("every response_format works, including those the provider lacks", async () => {
  const form = async (response_format: "text" | "srt" | "vtt" | "verbose_json") =>
    openai.audio.transcriptions.create({ file: await sound(), model: "hears", response_format }).asResponse();
  const text = await form("text");
  expect([text.headers.get("content-type"), await text.text()]).toEqual(["text/plain; charset=utf-8", `${SAID}\n`]);
  expect(fieldsSent().response_format).toBe("json");
  expect(await (await form("srt")).text()).toBe(
    "1\n00:00:00,000 --> 00:00:01,250\nMail joe@example.com or call 415 555\n\n2\n00:00:01,250 --> 00:00:03,004\n2671 tomorrow\n\n",
  );
  expect(fieldsSent().response_format).toBe("verbose_json");
  expect(await (await form("vtt")).text()).toStartWith("WEBVTT\n\n00:00:00.000 --> 00:00:01.250\nMail joe");
  expect(await (await form("verbose_json")).json()).toMatchObject({ segments: [{ id: 0 }, { id: 1 }] });
});

test("a transcript streams as it arrives, and a model without streaming is answered as a stream", async () => {
  const stream = await openai.audio.transcriptions.create({ file: await sound(), model: "hears-slowly", stream: true });
  const events: string[] = [];
  for await (const event of stream) {
    events.push(event.type);
    if (events.length === 1) vendor.goOn();
  }
  expect(events).toEqual(["transcript.text.delta", "transcript.text.delta", "transcript.text.done"]);
  expect(fieldsSent()).toMatchObject({ stream: "true" });

  const whole = await openai.audio.transcriptions.create({ file: await sound(), model: "hears", stream: true });
  let text = "";
  for await (const event of whole) if (event.type === "transcript.text.done") text = event.text;
  expect(text).toBe(SAID);
});

test("a client that disconnects before the usage event is charged for the audio and the text received", async () => {
  const { data: stream, response } = await openai.audio.transcriptions
    .create({ file: await sound(), model: "hears-slowly", stream: true })
    .withResponse();
  for await (const { type } of stream) if (type === "transcript.text.delta") break;
  stream.controller.abort();
  // 3 seconds at 50 tokens and $6 a million; 25 characters at 4 per token and $10 a million.
  expect(await rowBy(response)).toMatchObject({
    ...{ error_type: "client_disconnected", tags: ["usage_estimated"], llm_prompt_tokens: 150, llm_completion_tokens: 7 },
    ...{ media_audio_seconds_input: 3, llm_estimated_cost_usd: 0.00097 },
  });
  vendor.goOn();
});

test("translations use their own path, and Azure deployments theirs", async () => {
  const { data, response } = await openai.audio.translations.create({ file: await sound(), model: "hears" }).withResponse();
  expect(data.text).toBe(SAID);
  expect(vendor.heard.at(-1)?.path).toBe("/v1/audio/translations");
  expect(await rowBy(response)).toMatchObject({ proxy_subtype: "audio_translations", media_audio_seconds_input: 3 });
  await openai.audio.transcriptions.create({ file: await sound(), model: "deployed" });
  expect(vendor.heard.at(-1)).toMatchObject({ path: "/openai/v1/audio/transcriptions", headers: { "api-key": "vendor-secret-0001" } });
});

test("a routing group falls back to another member with the same file", async () => {
  const { response } = await openai.audio.transcriptions.create({ file: await sound(), model: "any-ear" }).withResponse();
  expect(vendor.heard.slice(-2).map(({ file }) => file.sha256)).toEqual(Array(2).fill(createHash("sha256").update(SOUND).digest("hex")));
  expect(await rowBy(response)).toMatchObject({ llm_model_used: "second", llm_used_fallback: true });
});

test("guardrails inspect the prompt and the transcript, whole, in segments and streamed", async () => {
  const { admin } = world;
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "careful", parent_group_id: groupId });
  await admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "careful",
    group_ids: [id],
    surfaces: { audio_stt_input: true, audio_stt_output: true },
    builtin: { pii_enabled: true, pii_action: "redact" },
  });
  const careful = await clientOf(id);
  const asked = { file: await sound(), model: "hears", prompt: "by ann@example.com" } as const;
  expect((await careful.audio.transcriptions.create(asked)).text).toBe("Mail [REDACTED:email] or call [REDACTED:phone] tomorrow");
  expect(fieldsSent().prompt).toBe("by [REDACTED:email]");
  await careful.audio.transcriptions.create({ ...asked, file: await sound(SOUND, "ann@example.com.wav"), language: "ann@example.com" });
  expect(vendor.heard.at(-1)?.file.name).toBe("[REDACTED:email].wav");
  expect(fieldsSent().language).toBe("[REDACTED:email]");
  const srt = await careful.audio.transcriptions.create({ ...asked, response_format: "srt" }).asResponse();
  expect(await srt.text()).not.toMatch(/joe|415|2671/);
  vendor.goOn();
  const streamed = await careful.audio.transcriptions.create({ ...asked, model: "hears-by-token", stream: true }).asResponse();
  const frames = await streamed.text();
  expect(frames).toContain("[REDACTED:email]");
  expect(frames).not.toMatch(/joe|example\.com|415|2671/);

  await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 0.01, hard_stop: true } },
  });
  expect(await refusal(careful.audio.transcriptions.create({ ...asked, model: "unpriced" }))).toMatchObject({ status: 403 });
  const before = vendor.heard.length;
  expect(await refusal(careful.audio.transcriptions.create({ ...asked, file: await sound(wav(120)) }))).toMatchObject({ status: 429 });
  const untold = Buffer.concat([SOUND.subarray(0, 44), Buffer.alloc(0)]);
  expect(await refusal(careful.audio.transcriptions.create({ ...asked, file: await sound(untold) }))).toMatchObject({ status: 400 });
  expect(vendor.heard).toHaveLength(before);
  await careful.audio.transcriptions.create(asked);
});

test("invalid requests are refused by field, and nothing is sent or stored", async () => {
  const before = vendor.heard.length;
  const ask = async (more: object, bytes?: Uint8Array) =>
    refusal(openai.audio.transcriptions.create({ file: await sound(bytes), model: "hears", ...more } as never));
  for (const [field, value] of Object.entries({ response_format: "midi", chat_id: "", persist: "perhaps", stream: "maybe" }))
    expect(await ask({ [field]: value })).toMatchObject({ status: 400, message: expect.stringContaining(`\`${field}\``) });
  expect(await ask({ display_name: "a\0b" })).toMatchObject({ status: 400, message: expect.stringContaining("`display_name`") });
  expect(await ask({ response_format: "srt", stream: true })).toMatchObject({ status: 400, message: expect.stringContaining("`stream`") });
  expect(await ask({}, Buffer.from("<html>no sound</html>"))).toMatchObject({
    status: 400,
    message: expect.stringMatching(/audio.*text\/plain/),
  });
  expect(await ask({ model: "claude" })).toMatchObject({ status: 400 });
  expect(await ask({ model: "nobody" })).toMatchObject({ status: 404 });
  expect(await ask({ Model: "hears" })).toMatchObject({ status: 400 });
  expect(vendor.heard).toHaveLength(before);
});

test("file and field names cannot break out of their multipart headers", async () => {
  const name = 'a"\r\ncontent-type: text/html\r\n\r\nx.wav';
  await openai.audio.transcriptions.create({ file: await sound(SOUND, name), model: "hears", "x\r\ny": "z" } as never);
  expect(vendor.heard.at(-1)?.file).toMatchObject({ type: expect.stringContaining("wav"), bytes: SOUND.byteLength });
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Speech from Gemini models with OpenAI's own client. */
let world: World;
let vendor: FakeVendor;
let openai: OpenAI;
let groupId: string;
const SAMPLES = Buffer.from([1, 0, 2, 0, 3, 0, 4, 0]);

beforeAll(async () => {
  vendor = fakeVendor(({ body, path }) => {
    const said = JSON.parse(body).contents[0].parts[0].text as string;
    if (said.includes("unknown voice")) return Response.json({ error: { code: 400, message: "no such voice" } }, { status: 400 });
    const mute = said.includes("forbidden");
    const data = { inlineData: { mimeType: "audio/L16;codec=pcm;rate=24000", data: SAMPLES.toString("base64") } };
    const answer = {
      candidates: [{ content: { role: "model", parts: mute ? [] : [data] }, finishReason: mute ? "PROHIBITED_CONTENT" : "STOP", index: 0 }],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: mute ? 0 : 200,
        totalTokenCount: 210,
        ...(!mute && { candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 200 }] }),
      },
    };
    // Some models cannot stream and answer with a whole body.
    if (!path.includes(":streamGenerateContent") || said.includes("at once")) return Response.json(answer);
    return mute ? new Response(eventOf(answer), { headers: EVENTS }) : new Response(spokenAs(said, answer), { headers: EVENTS });
  });
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team" }));
  const vertex = `${vendor.origin}/v1/projects/fake/locations/global`;
  for (const [provider_key, api_format, base_url] of [
    ["g", "gemini", vendor.origin],
    ["v", "vertex", vertex],
  ])
    await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, api_key: "vendor-secret-0001" });
  const tokens = { input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 20 };
  for (const [name, provider, prices] of [
    ["gemini-tts", "g", tokens],
    ["gemini-tts-both", "g", { ...tokens, audio_output_cost_per_million_characters: 15 }],
    ["gemini-tts-vertex", "v", { audio_output_cost_per_million_characters: 15 }],
  ] as const) {
    const model = { tenant_id: "default", name, model_name: name, provider, mode: "audio_speech", group_ids: [groupId], ...prices };
    await admin.post("/v1/admin/llms", model);
  }
  openai = await clientOf(groupId);
});
afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const EVENTS = { "content-type": "text/event-stream" };
const eventOf = (body: object) => `data: ${JSON.stringify(body)}\r\n\r\n`;
/** Sends the rest of the speech, or breaks off. */
let goOn: () => void = () => undefined;

/** Two events with audio, then one that marks the end. */
function spokenAs(said: string, { candidates: [whole], usageMetadata }: { candidates: any[]; usageMetadata: object }) {
  const { parts } = whole.content;
  const piece = (from: number) => {
    const { mimeType } = parts[0].inlineData;
    const data = SAMPLES.subarray(from, from + 4).toString("base64");
    return eventOf({ candidates: [{ content: { role: "model", parts: [{ inlineData: { mimeType, data } }] }, index: 0 }] });
  };
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
      send(piece(0));
      if (/slow|torn|cut short|fails/.test(said)) await new Promise<void>((resolve) => (goOn = resolve));
      if (said.includes("torn")) return controller.error(new Error("torn"));
      if (said.includes("fails")) send(eventOf({ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }));
      else {
        send(piece(4));
        if (!said.includes("cut short"))
          send(eventOf({ candidates: [{ content: { parts: [] }, finishReason: "STOP", index: 0 }], usageMetadata }));
      }
      controller.close();
    },
  });
}

async function clientOf(group: string): Promise<OpenAI> {
  const { key_value: apiKey } = await world.admin.post(`/v1/admin/resource-groups/${group}/api-keys`, { name: "k", access_mode: "shared" });
  return new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
}
const rowBy = (response: Response) => rowOf(world.admin, { id: response.headers.get("x-request-id") });
const speak = (more: object = {}, client = openai) =>
  client.audio.speech.create({ model: "gemini-tts", voice: "Kore", input: "Good morning", ...more } as OpenAI.Audio.SpeechCreateParams);
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    ({ status, message, headers }: { status: number; message: string; headers: Headers }) => ({ status, message, headers }),
  );

/** The two lengths in a WAV header: of everything after it, and of the samples. */
const lengthsIn = (sound: Buffer) => [sound.readUInt32LE(4), sound.readUInt32LE(40)];

test("samples become a playable WAV file; the request is in Gemini's format and priced by tokens", async () => {
  const response = await speak({ instructions: "Say cheerfully", speed: 1.5 });
  const sound = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get("content-type")).toBe("audio/wav");
  expect([sound.subarray(0, 4).toString(), sound.subarray(8, 16).toString()]).toEqual(["RIFF", "WAVEfmt "]);
  expect([sound.readUInt16LE(22), sound.readUInt32LE(24), sound.readUInt32LE(28), sound.readUInt16LE(34)]).toEqual([1, 24_000, 48_000, 16]);
  // The length was unknown when the stream began.
  expect([lengthsIn(sound), sound.subarray(44)]).toEqual([[0xffffffff, 0xffffffff], SAMPLES]);
  expect(vendor.seen.at(-1)?.path).toBe("/v1beta/models/gemini-tts:streamGenerateContent?alt=sse");
  expect(JSON.parse(vendor.seen.at(-1)?.body as string)).toEqual({
    contents: [{ role: "user", parts: [{ text: "Say cheerfully: Good morning" }] }],
    generationConfig: { responseModalities: ["AUDIO"], speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } } },
  });
  expect(response.headers.get("x-gw-dropped-parameters")).toBe("speed");
  // 10 x $1 + 200 x $20 a million.
  expect(await rowBy(response)).toMatchObject({
    proxy_subtype: "audio_speech",
    success: true,
    media_audio_chars: 12,
    llm_completion_tokens: 200,
    llm_estimated_cost_usd: 0.00401,
  });
});

test("samples stream as each event arrives", async () => {
  const response = await speak({ response_format: "pcm", input: "Go slow" });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  // Except one sample that is held until more follows: the last one waits for the row.
  expect(Buffer.from((await reader.read()).value as Uint8Array)).toEqual(SAMPLES.subarray(0, 2));
  goOn();
  const rest: Uint8Array[] = [];
  for (let read = await reader.read(); !read.done; read = await reader.read()) rest.push(read.value);
  expect(Buffer.concat(rest)).toEqual(SAMPLES.subarray(2));
  expect(await rowBy(response)).toMatchObject({ success: true, llm_completion_tokens: 200, media_audio_chars: 7 });
});

test("with stream_format sse the answer is OpenAI's speech events with usage in the last, streamed or whole upstream", async () => {
  const usage = { input_tokens: 10, output_tokens: 200, total_tokens: 210 };
  for (const input of ["Good morning", "All at once"]) {
    const response = await speak({ response_format: "pcm", stream_format: "sse", input });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text()).split("\n\n").flatMap((frame) => (frame === "" ? [] : [JSON.parse(frame.slice(6))]));
    expect(Buffer.concat(events.map(({ audio = "" }) => Buffer.from(audio, "base64")))).toEqual(SAMPLES);
    expect(events.at(-1)).toEqual({ type: "speech.audio.done", usage });
    expect(await rowBy(response)).toMatchObject({ success: true, llm_streaming: true, llm_estimated_cost_usd: 0.00401 });
  }
  const declined = speak({ stream_format: "sse", input: "forbidden words" });
  expect(await refusal(declined)).toMatchObject({ status: 400, message: expect.stringContaining("returned no audio") });
  const failing = await speak({ stream_format: "sse", input: "This fails" });
  goOn();
  expect(await failing.text()).toContain('"error":{');
  expect(await rowBy(failing)).toMatchObject({ success: false, error_type: "upstream_interrupted" });
});

test("an interrupted stream is cut for the caller, and the row records it with the usage so far", async () => {
  for (const [input, reason] of [
    ["A torn word", expect.any(String)],
    ["A word cut short", expect.any(String)],
    ["A voice that fails", "overloaded"],
  ] as const) {
    const response = await speak({ response_format: "pcm", input });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(Buffer.from((await reader.read()).value as Uint8Array)).toEqual(SAMPLES.subarray(0, 2));
    goOn();
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow();
    const row = await rowBy(response);
    expect(row).toMatchObject({ success: false, error_type: "upstream_interrupted", media_audio_chars: input.length });
    if (typeof reason === "string") expect(row.error_message).toContain(reason);
    // One token for the audio received; the prompt's tokens are charged too.
    expect(row.llm_completion_tokens).toBe(1);
    expect(row.llm_estimated_cost_usd).toBeGreaterThan(0);
  }
});

test("a model without streaming answers with a complete WAV file", async () => {
  const sound = Buffer.from(await (await speak({ input: "All at once" })).arrayBuffer());
  expect([lengthsIn(sound), sound.subarray(44)]).toEqual([[44, 8], SAMPLES]);
});

test("raw PCM, a persisted file and a model on Vertex AI work", async () => {
  const bare = await speak({ response_format: "pcm" });
  expect([bare.headers.get("content-type"), Buffer.from(await bare.arrayBuffer())]).toEqual(["audio/pcm", SAMPLES]);
  const kept = await speak({ model: "gemini-tts-vertex", persist: true });
  const id = kept.headers.get("x-gw-file-id") as string;
  const file = await openai.files.content(id);
  const sound = Buffer.from(await kept.clone().arrayBuffer());
  expect(lengthsIn(sound)).toEqual([44, 8]);
  expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.from(await kept.arrayBuffer()));
  expect(vendor.seen.at(-1)?.path).toBe("/v1/projects/fake/locations/global/publishers/google/models/gemini-tts-vertex:generateContent");
  // 12 x $15 a million: the model has no token prices.
  expect(await rowBy(kept)).toMatchObject({ llm_estimated_cost_usd: 0.00018, custom_metadata: { files: [{ id }] } });
});

test("an unsupported format is refused by field; speech the model declines is recorded with its reason", async () => {
  expect(await refusal(speak({ response_format: "mp3" }))).toMatchObject({
    status: 400,
    message: expect.stringContaining("response_format"),
  });
  expect(await refusal(speak({ input: "An unknown voice" }))).toMatchObject({ status: 400 });
  const mute = await refusal(speak({ input: "A forbidden word" }));
  expect(mute).toMatchObject({ status: 400, message: expect.stringContaining("returned no audio") });
  expect(await rowOf(world.admin, { id: mute?.headers.get("x-request-id") })).toMatchObject({
    success: false,
    error_type: "speech_declined",
    error_message: expect.stringContaining("PROHIBITED_CONTENT"),
  });
});

test("a hard budget holds the higher of the token and character prices, and refuses a model without a character price", async () => {
  const { admin } = world;
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "careful", parent_group_id: groupId });
  await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 0.01, hard_stop: true } },
  });
  const careful = await clientOf(id);
  expect(await refusal(speak({}, careful))).toMatchObject({ status: 403 });
  // 12 characters are at most 300 tokens at $20 a million; 40 characters are 1,000 tokens, twice the budget.
  expect(await refusal(speak({ model: "gemini-tts-both", input: "x".repeat(40) }, careful))).toMatchObject({ status: 429 });
  expect((await speak({ model: "gemini-tts-both" }, careful)).status).toBe(200);
});

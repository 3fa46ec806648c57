import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Voices of Azure's Speech service with OpenAI's own client, over a fake that follows the service's documentation. */
const KEY = "azure-speech-secret-0001";
const HALF = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0, 1, 2, 3]);
const TYPES: Record<string, string> = {
  "audio-24khz-96kbitrate-mono-mp3": "audio/mpeg",
  "ogg-24khz-16bit-mono-opus": "audio/ogg",
  "riff-24khz-16bit-mono-pcm": "audio/x-wav",
  "raw-24khz-16bit-mono-pcm": "audio/basic",
};
let world: World;
let vendor: Server;
let openai: OpenAI;
let groupId: string;
const seen: { readonly headers: Record<string, unknown>; readonly url: string; readonly body: string }[] = [];
/** Sends the second half, or breaks the connection. */
let goOn: () => void = () => undefined;

const unescaped = (text: string) =>
  text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => ({ lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" })[name] as string);

/** What the service would understand from a request; null where it would answer 400. */
function understood(ssml: string) {
  const [, language, voice, rest = ""] =
    /^<speak version="1\.0" xmlns="http:\/\/www\.w3\.org\/2001\/10\/synthesis" xml:lang="([^"]+)"><voice name="([^"<]+)">(.*)<\/voice><\/speak>$/s.exec(
      ssml,
    ) ?? [];
  const [, rate, inner = rest] = /^<prosody rate="([\d.]+)">(.*)<\/prosody>$/s.exec(rest) ?? [];
  if (voice === undefined || inner.includes("<")) return null;
  return { language, voice: unescaped(voice), rate: rate === undefined ? null : Number(rate), text: unescaped(inner) };
}

beforeAll(async () => {
  vendor = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      seen.push({ headers: request.headers, url: request.url ?? "", body });
      const type = TYPES[String(request.headers["x-microsoft-outputformat"])];
      const asked = understood(body);
      if (request.headers["ocp-apim-subscription-key"] !== KEY) return void response.writeHead(401).end();
      if (request.headers["content-type"] !== "application/ssml+xml" || !request.headers["user-agent"] || request.method !== "POST")
        return void response.writeHead(415).end();
      if (type === undefined || asked === null || asked.voice === "nobody") return void response.writeHead(400).end("Unsupported voice");
      if (asked.text.includes("a page")) return void response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>");
      response.writeHead(200, { "content-type": type, "x-requestid": "speech-1" });
      response.write(HALF);
      if (asked.text.includes("torn")) goOn = () => response.destroy();
      else if (asked.text.includes("slowly")) goOn = () => void response.end(HALF);
      else response.end(HALF);
    });
  });
  await new Promise<void>((resolve) => vendor.listen(0, "127.0.0.1", resolve));
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team" }));
  const base_url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "s", api_format: "azure_speech", base_url, api_key: KEY });
  const model = (name: string, mode: string, more: object = {}) =>
    admin.post("/v1/admin/llms", { tenant_id: "default", name, model_name: "neural", provider: "s", mode, group_ids: [groupId], ...more });
  await model("voices", "audio_speech", { audio_output_cost_per_million_characters: 15 });
  for (const mode of ["chat", "embedding", "image", "audio_transcription", "moderation", "video"]) await model(`no-${mode}`, mode);
  const { key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "k", access_mode: "shared" });
  openai = new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
});
afterAll(async () => {
  await world.end();
  vendor.close();
});

const rowBy = (response: Response) => rowOf(world.admin, { id: response.headers.get("x-request-id") });
const speak = (more: object = {}) =>
  openai.audio.speech.create({
    ...{ model: "voices", voice: "en-US-AvaNeural", input: "Good morning" },
    ...more,
  } as OpenAI.Audio.SpeechCreateParams);
const refusal = (asked: PromiseLike<unknown>) =>
  Promise.resolve(asked).then(
    () => null,
    ({ status, message }: { status: number; message: string }) => ({ status, message }),
  );

test("speech from text is returned, priced by characters and recorded", async () => {
  const input = `Fish & chips <3 "now" 🌍`;
  const response = await speak({ input, speed: 1.25, instructions: "Whisper" });
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat([HALF, HALF]));
  expect(response.headers.get("content-type")).toBe("audio/mpeg");
  expect(response.headers.get("x-gw-dropped-parameters")).toBe("instructions");
  expect(understood(seen.at(-1)?.body ?? "")).toEqual({ language: "en-US", voice: "en-US-AvaNeural", rate: 1.25, text: input });
  expect(seen.at(-1)?.url).toBe("/cognitiveservices/v1");
  expect(await rowBy(response)).toMatchObject({
    ...{ proxy_subtype: "audio_speech", llm_model_used: "voices", llm_provider: "s", success: true, upstream_request_id: "speech-1" },
    ...{ media_audio_chars: 23, llm_estimated_cost_usd: 0.000345 },
  });
});

test("each format is requested by Azure's name; an unsupported format or speed is refused by field", async () => {
  for (const [response_format, type, name] of [
    ["opus", "audio/ogg", "ogg-24khz-16bit-mono-opus"],
    ["wav", "audio/wav", "riff-24khz-16bit-mono-pcm"],
    ["pcm", "audio/pcm", "raw-24khz-16bit-mono-pcm"],
  ]) {
    const response = await speak({ response_format });
    expect((await response.arrayBuffer()).byteLength).toBe(16);
    expect([response.headers.get("content-type"), seen.at(-1)?.headers["x-microsoft-outputformat"]]).toEqual([type as string, name]);
  }
  const before = seen.length;
  for (const response_format of ["aac", "flac"])
    expect(await refusal(speak({ response_format }))).toMatchObject({ status: 400, message: expect.stringContaining("response_format") });
  expect(await refusal(speak({ speed: 4 }))).toMatchObject({ status: 400, message: expect.stringContaining("speed") });
  expect(seen.length).toBe(before);
});

test("audio streams as it arrives, an interruption reaches the caller, and persisted audio is stored", async () => {
  const slow = await speak({ input: "Speak slowly" });
  const reader = (slow.body as ReadableStream<Uint8Array>).getReader();
  // Except its last bytes: the end of the stream waits for the row.
  expect(Buffer.from((await reader.read()).value as Uint8Array)).toEqual(HALF.subarray(0, -2));
  goOn();
  const rest: Uint8Array[] = [];
  for (let read = await reader.read(); !read.done; read = await reader.read()) rest.push(read.value);
  expect(Buffer.concat(rest)).toEqual(Buffer.concat([HALF.subarray(-2), HALF]));
  const torn = await speak({ input: "A torn word" });
  const tearing = (torn.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await tearing.read()).value as Uint8Array)).toEqual(HALF.subarray(0, -2));
  goOn();
  await expect(tearing.read()).rejects.toThrow();
  expect(await rowBy(torn)).toMatchObject({ success: false, error_type: "upstream_interrupted", media_audio_chars: 11 });
  const kept = await speak({ persist: true });
  const file = await openai.files.content(kept.headers.get("x-gw-file-id") as string);
  expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.concat([HALF, HALF]));
});

test("a response that is not audio becomes 502, and a refusal by the service is passed on", async () => {
  expect(await refusal(speak({ voice: "nobody" }))).toMatchObject({ status: 400 });
  expect(await refusal(speak({ input: "Read a page" }))).toMatchObject({ status: 502 });
  expect(await refusal(speak({ input: "Read a page", persist: true }))).toMatchObject({ status: 502 });
});

test("guardrails inspect the text to be spoken", async () => {
  await world.admin.post("/v1/admin/guardrails/configs", {
    ...{ tenant_id: "default", name: "words", enabled: true, group_ids: [groupId], surfaces: { audio_tts_input: true } },
    builtin: { banned_words: ["project titan"] },
  });
  const before = seen.length;
  expect(await refusal(speak({ input: "About Project Titan" }))).toMatchObject({ status: 403 });
  expect(seen.length).toBe(before);
});

test("an Azure Speech provider refuses every other operation", async () => {
  const before = seen.length;
  const messages = [{ role: "user", content: "x" }] as const;
  for (const asked of [
    () => openai.chat.completions.create({ model: "no-chat", messages: [...messages] }),
    () => openai.embeddings.create({ model: "no-embedding", input: "x" }),
    () => openai.images.generate({ model: "no-image", prompt: "x" }),
    () => openai.moderations.create({ model: "no-moderation", input: "x" }),
    () => openai.videos.create({ model: "no-video", prompt: "x" }),
  ])
    expect(await refusal(asked())).toMatchObject({ status: 400 });
  expect(seen.length).toBe(before);
});

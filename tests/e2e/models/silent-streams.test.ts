import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type Served, serveModels } from "../../support/worlds/admin.ts";
import { STREAM_FRAMES, STREAM_WORDS, USAGE_FRAME } from "../../support/vendors/fake-upstream.ts";
import { type RawUpstream, startRawUpstream } from "../../support/vendors/raw-upstream.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Less than any client's default timeout, and more than the gateway lets a client wait for a byte. */
const CLIENT_TIMEOUT_MS = 20_000;

let world: World;
let upstream: RawUpstream;
let served: Served;
let asked = 0;
const speaking = Promise.withResolvers<void>();

beforeAll(async () => {
  world = await startWorld();
  upstream = await startRawUpstream(() => {
    asked++;
    return {
      head: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
      pieces: [speaking.promise.then(() => Buffer.from([...STREAM_FRAMES, USAGE_FRAME, "data: [DONE]\n\n"].join("")))],
      ending: "end",
    };
  });
  served = await serveModels(world.admin, `${upstream.origin}/v1`, ["thinks-first"]);
});

afterAll(async () => {
  await upstream.stop();
  await world.end();
});

/** Starts reading a stream; resolves once its provider has been called. */
async function asking(path: string, body: object): Promise<{ readonly whole: Promise<string> }> {
  const before = asked;
  const headers = { "x-api-key": served.apiKey, "content-type": "application/json" };
  const response = fetch(`${world.gateway.runtimeUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  await until(
    () => asked,
    (count) => count > before,
  );
  return { whole: response.then((given) => given.text()) };
}

test("a stream whose model is still thinking starts before client timeouts, so that clients do not retry", async () => {
  const { runtimeUrl } = world.gateway;
  const client = { apiKey: served.apiKey, timeout: CLIENT_TIMEOUT_MS };
  const messages = [{ role: "user" as const, content: "Hi" }];
  const contents = [{ role: "user", parts: [{ text: "Hi" }] }];
  const gemini = await asking("/v1beta/models/thinks-first:streamGenerateContent?alt=sse", { contents });
  const chat = await asking("/v1/proxy/llm/chat/completions", { model: "thinks-first", messages, stream: true });
  const chunks = await Promise.all([
    new OpenAI({ ...client, baseURL: `${runtimeUrl}/v1/proxy/llm` }).chat.completions.create({
      model: "thinks-first",
      messages,
      stream: true,
    }),
    new Anthropic({ ...client, baseURL: runtimeUrl }).messages.create({ model: "thinks-first", max_tokens: 100, messages, stream: true }),
  ]);
  speaking.resolve();
  let texts = ["", ""];
  for await (const { choices } of chunks[0]) texts = [texts[0] + (choices[0]?.delta.content ?? ""), ""];
  for await (const event of chunks[1])
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") texts[1] += event.delta.text;
  expect(texts).toEqual([STREAM_WORDS.join(""), STREAM_WORDS.join("")]);
  expect(asked).toBe(4);
  // Clients for Go and Python take a blank line that ends no event for an event without data.
  expect(await chat.whole).toMatch(/^: keep-alive\n(?:data: [^\n]+\n\n)+$/);
  // Google's clients for JavaScript expect events to follow each other directly, and those for Python do not support comments.
  expect(await gemini.whole).toMatch(/^(?:data: [^\n]+\r\n\r\n)+$/);
});

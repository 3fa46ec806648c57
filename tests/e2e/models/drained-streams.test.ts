import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { rowOf, signIn } from "../../support/worlds/admin.ts";
import { testDatabase } from "../../support/database.ts";
import { removeDirectory, startGateway, temporaryDirectory } from "../../support/gateway.ts";
import { SURFACES } from "../../support/formats/inbound-surfaces.ts";
import { type RawUpstream, startRawUpstream } from "../../support/vendors/raw-upstream.ts";

/** Streams that a stopping gateway has to cut off end with an error in every format, and no client takes them for complete. */

const json = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string; [field: string]: unknown }) => `event: ${value.type}\n${json(value)}`;
const BEGUN: Readonly<Record<string, string>> = {
  "/v1/chat/completions": json({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { role: "assistant", content: "Hello" } }],
  }),
  "/v1/completions": json({
    id: "c",
    object: "text_completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, text: "Hello", finish_reason: null }],
  }),
  "/v1/responses":
    event({
      type: "response.created",
      sequence_number: 0,
      response: { id: "r", object: "response", status: "in_progress", model: "m", output: [] },
    }) +
    event({
      type: "response.output_item.added",
      sequence_number: 1,
      output_index: 0,
      item: { id: "i", type: "message", role: "assistant", status: "in_progress", content: [] },
    }) +
    event({
      type: "response.content_part.added",
      sequence_number: 2,
      output_index: 0,
      content_index: 0,
      item_id: "i",
      part: { type: "output_text", text: "", annotations: [] },
    }) +
    event({ type: "response.output_text.delta", sequence_number: 3, output_index: 0, content_index: 0, item_id: "i", delta: "Hello" }),
  "/v1/messages":
    event({
      type: "message_start",
      message: {
        id: "a",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }) +
    event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }) +
    event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } }),
  events: json({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] } }],
    usageMetadata: { promptTokenCount: 1 },
  }),
  array: `[${JSON.stringify({ candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] } }] })}`,
};
const MODELS = { openai: "openai", anthropic: "anthropic", gemini: "gemini" } as const;
const STREAMED = SURFACES.filter(({ streamed }) => streamed);

let upstream: RawUpstream;
let begun = 0;
let allBegun: PromiseWithResolvers<void>;

beforeAll(async () => {
  upstream = await startRawUpstream((path) => {
    const form = path.includes(":stream") ? (path.includes("alt=sse") ? "events" : "array") : (path.split("?")[0] as string);
    const type = form === "array" ? "application/json" : "text/event-stream";
    return {
      head: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`,
      pieces: [chunked(BEGUN[form] as string)],
      ending: "hold",
    };
  });
});

afterAll(() => upstream.stop());

function chunked(text: string): Uint8Array {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

/** Reads what a caller gets until the gateway is gone. */
async function readOut(response: Response): Promise<{ id: string; text: string }> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const piece of response.body as ReadableStream<Uint8Array>) {
      if (text === "") began();
      text += decoder.decode(piece, { stream: true });
    }
  } catch (error) {
    text += `torn: ${String(error)}`;
  }
  return { id: response.headers.get("x-request-id") as string, text };
}

function began(): void {
  if (--begun === 0) allBegun.resolve();
}

/** The outcome of a client's stream. */
async function taken(stream: AsyncIterable<unknown>): Promise<string> {
  let pieces = 0;
  try {
    for await (const _ of stream) if (pieces++ === 0) began();
    return `taken for an answer after ${pieces} pieces`;
  } catch (error) {
    return pieces === 0 ? `nothing before ${String(error)}` : "raised";
  }
}

test("a stream cut off by the drain ends with an error on every surface, from every provider, for every client", async () => {
  const database = await testDatabase();
  const dataDir = await temporaryDirectory();
  const gateway = await startGateway({ databaseUrl: database.url, dataDir, env: { GW_DRAIN_SECONDS: "0" } });
  const admin = await signIn(gateway.adminUrl);
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "team", group_type: "team" });
  for (const [name, format] of Object.entries(MODELS)) {
    const base_url = format === "openai" ? `${upstream.origin}/v1` : upstream.origin;
    await admin.post("/v1/admin/providers", {
      ...tenant,
      provider_key: name,
      api_format: format,
      base_url,
      api_key: "upstream-secret-0001",
    });
    const modes = format === "openai" ? ["chat", "responses", "completion"] : ["chat"];
    await admin.post("/v1/admin/llms", {
      ...tenant,
      name,
      model_name: `${name}-m`,
      modes,
      provider: name,
      enabled: true,
      group_ids: [group.id],
    });
  }
  const { key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" });

  const url = gateway.runtimeUrl;
  const openai = new OpenAI({ baseURL: `${url}/v1/proxy/llm`, apiKey, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
  const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
  const clients: Readonly<Record<string, (model: string) => Promise<AsyncIterable<unknown>>>> = {
    "openai chat": (model) => openai.chat.completions.create({ model, stream: true, messages: [{ role: "user", content: "x" }] }),
    "openai completions": (model) => openai.completions.create({ model, stream: true, prompt: "x" }),
    "openai responses": (model) => openai.responses.create({ model, stream: true, input: "x" }),
    anthropic: (model) => anthropic.messages.create({ model, stream: true, max_tokens: 9, messages: [{ role: "user", content: "x" }] }),
    google: (model) => google.models.generateContentStream({ model, contents: "x" }),
  };

  const cases = Object.keys(MODELS).flatMap((model) => STREAMED.map((surface) => ({ model, surface })));
  const asked = Object.keys(MODELS).flatMap((model) => Object.keys(clients).map((client) => ({ model, client })));
  begun = cases.length + asked.length;
  allBegun = Promise.withResolvers();
  const read = cases.map(async ({ model, surface }) => {
    const { path, body } = surface.request(model, "x");
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "anthropic-version": "2023-06-01" };
    return readOut(await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) }));
  });
  const raised = asked.map(async ({ model, client }) => taken(await (clients[client] as (typeof clients)[string])(model)));
  await allBegun.promise;
  expect(await gateway.stop()).toBe(0);

  const ends = await Promise.all(read);
  const told = cases.map(
    ({ model, surface }, at) => `${surface.name} of ${model}: ${surface.read(ends[at]?.text ?? "")} ${(ends[at]?.text ?? "").slice(-160)}`,
  );
  expect(told.filter((one) => !one.includes(": error "))).toEqual([]);
  const outcomes = await Promise.all(raised);
  expect(asked.map(({ model, client }, at) => `${client} of ${model}: ${outcomes[at]}`).filter((one) => !one.endsWith(": raised"))).toEqual(
    [],
  );

  const again = await startGateway({ databaseUrl: database.url, dataDir });
  const rows = await signIn(again.adminUrl);
  for (const { id } of ends)
    expect(await rowOf(rows, { id })).toMatchObject({ success: false, error_type: "gateway_interrupted", http_status_code: 200 });
  expect(await again.stop()).toBe(0);
  await database.close();
  await removeDirectory(dataDir);
});

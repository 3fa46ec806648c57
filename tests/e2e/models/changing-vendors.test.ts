import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import type { Loose } from "../../support/vendors/loose.ts";
import { events } from "../../support/vendors/scene.ts";
import { startWorld, type World } from "../../support/world.ts";

/**
 * A conversation that begins at a vendor of another format and continues at the vendor whose format the client speaks, as after a failover
 * or when a person changes the model. Each vendor refuses what it did not generate itself.
 */
let world: World;
let vendor: FakeVendor;
let apiKey: string;

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** A server of OpenAI's chat format that sends its reasoning and calls a tool. */
function answerChat({ stream }: Loose): Response {
  const call = { id: "functions.look:0", type: "function", function: { name: "look", arguments: '{"at": 9007199254740993}' } };
  const head = { id: "c1", created: 1, model: "m" };
  if (!stream) {
    const message = { role: "assistant", content: null, reasoning_content: "Hmm.", tool_calls: [call] };
    return Response.json({ ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage });
  }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    data: { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] },
  });
  const deltas = [{ reasoning_content: "Hmm." }, { tool_calls: [{ index: 0, ...call }] }].map((delta) => chunk(delta));
  return events([...deltas, chunk({}, "tool_calls"), { data: { ...head, choices: [], usage } }], "data: [DONE]\n\n");
}

function answerMessages({ messages }: Loose): Response {
  const blocks: Loose[] = messages.flatMap(({ content }: Loose) => (Array.isArray(content) ? content : []));
  const wrong = blocks.find(
    ({ type, signature, id, tool_use_id }) =>
      (type === "thinking" && signature !== "own") || !/^[a-zA-Z0-9_-]*$/.test(`${id ?? ""}${tool_use_id ?? ""}`),
  );
  const called = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  const results = blocks.filter(({ type }) => type === "tool_result").map(({ tool_use_id }) => tool_use_id);
  if (wrong !== undefined || String(called) !== String(results))
    return Response.json({ type: "error", error: { type: "invalid_request_error", message: JSON.stringify(wrong) } }, { status: 400 });
  const content = [{ type: "text", text: "Seen." }];
  const about = { id: "msg_1", type: "message", role: "assistant", model: "claude", stop_sequence: null };
  return Response.json({ ...about, content, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } });
}

function answerResponses({ input }: Loose): Response {
  const lost = input.find(({ type, encrypted_content }: Loose) => type === "reasoning" && encrypted_content === undefined);
  if (lost !== undefined)
    return Response.json({ error: { type: "invalid_request_error", message: `Item with id '${lost.id}' not found.` } }, { status: 404 });
  const content = [{ type: "output_text", text: "Seen.", annotations: [] }];
  const output = [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content }];
  const counted = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return Response.json({ id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed", output, usage: counted });
}

function answerGemini({ contents }: Loose): Response {
  const parts: Loose[] = contents.flatMap((content: Loose) => content.parts);
  if (parts.some(({ functionCall, thoughtSignature }) => functionCall !== undefined && thoughtSignature === undefined))
    return Response.json({ error: { code: 400, message: "Function call is missing a thought_signature." } }, { status: 400 });
  const candidates = [{ content: { role: "model", parts: [{ text: "Seen." }] }, finishReason: "STOP" }];
  return Response.json({ candidates, usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } });
}

beforeAll(async () => {
  vendor = fakeVendor(({ path, body }) => {
    const asked = JSON.parse(body) as Loose;
    if (path.endsWith("/chat/completions")) return answerChat(asked);
    if (path.endsWith("/messages")) return answerMessages(asked);
    return path.endsWith("/responses") ? answerResponses(asked) : answerGemini(asked);
  });
  world = await startWorld();
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  for (const [name, api_format, model_name, mode] of [
    ["stranger", "openai", "m", "chat"],
    ["claude", "anthropic", "claude-sonnet-5", "chat"],
    ["gpt", "openai", "gpt-6", "responses"],
    ["gemini", "gemini", "gemini-3-pro", "chat"],
  ]) {
    const base_url = api_format === "openai" ? `${vendor.origin}/v1` : vendor.origin;
    const provider = { tenant_id: "default", provider_key: `${name}-vendor`, api_format, base_url, api_key: "sk-1" };
    await admin.post("/v1/admin/providers", provider);
    const model = { tenant_id: "default", name, model_name, provider: provider.provider_key, modes: [mode], group_ids: [group.id] };
    await admin.post("/v1/admin/llms", model);
  }
  apiKey = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const SCHEMA = { type: "object" as const, properties: { at: { type: "number" } } };
const lastBody = () => vendor.seen.at(-1)?.body ?? "";

test.each([false, true])("a Claude model continues another model's reasoning and tool call (streamed: %p)", async (stream) => {
  const { messages } = new Anthropic({ baseURL: world.gateway.runtimeUrl, apiKey, maxRetries: 0 });
  const question = { role: "user" as const, content: "Look." };
  const asked = { max_tokens: 4000, tools: [{ name: "look", input_schema: SCHEMA }] };
  const first = { ...asked, model: "stranger", messages: [question] };
  const { content } = stream ? await messages.stream(first).finalMessage() : await messages.create(first);
  expect(content.map(({ type }) => type)).toEqual(["thinking", "tool_use"]);
  const call = content.at(-1) as Anthropic.ToolUseBlock;
  const answer = await messages.create({
    ...{ ...asked, model: "claude" },
    messages: [
      question,
      { role: "assistant", content: content as Anthropic.ContentBlockParam[] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "4" }] },
    ],
  });
  expect(answer.content).toMatchObject([{ type: "text", text: "Seen." }]);
});

test.each([false, true])("an OpenAI model continues another model's reasoning and tool call (streamed: %p)", async (stream) => {
  const { responses } = new OpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey, maxRetries: 0 });
  const question = { role: "user" as const, content: "Look." };
  const tools = [{ type: "function" as const, name: "look", parameters: SCHEMA, strict: false }];
  const first = { model: "stranger", input: [question], tools, store: false };
  const { output } = stream ? await responses.stream(first).finalResponse() : await responses.create(first);
  expect(output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
  const call = output.at(-1) as OpenAI.Responses.ResponseFunctionToolCall;
  const answer = await responses.create({
    ...{ ...first, model: "gpt" },
    input: [question, ...(output as OpenAI.Responses.ResponseInput), { type: "function_call_output", call_id: call.call_id, output: "4" }],
  });
  expect(answer.output_text).toBe("Seen.");
});

test.each([false, true])("a Gemini model continues another model's reasoning and tool call (streamed: %p)", async (stream) => {
  const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: world.gateway.runtimeUrl } });
  const question: Content = { role: "user", parts: [{ text: "Look." }] };
  const config = { tools: [{ functionDeclarations: [{ name: "look", parametersJsonSchema: SCHEMA }] }] };
  const first = { model: "stranger", contents: [question], config };
  const answers = stream ? await Array.fromAsync(await models.generateContentStream(first)) : [await models.generateContent(first)];
  const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  const call = parts.find(({ functionCall }) => functionCall !== undefined)?.functionCall;
  const result = { functionResponse: { name: "look", response: { output: "4" }, ...(call?.id !== undefined && { id: call.id }) } };
  const answer = await models.generateContent({
    ...{ model: "gemini", config },
    contents: [question, { role: "model", parts }, { role: "user", parts: [result] }],
  });
  expect(answer.text).toBe("Seen.");
});

test("a continued conversation keeps every digit of its numbers", async () => {
  const content = [
    { type: "thinking", thinking: "Hmm.", signature: "" },
    { type: "tool_use", id: "call_1", name: "look", input: 0 },
  ];
  const result = [{ type: "tool_result", tool_use_id: "call_1", content: "4" }];
  const messages = [
    { role: "user", content: "Look." },
    { role: "assistant", content },
    { role: "user", content: result },
  ];
  const body = JSON.stringify({ model: "claude", max_tokens: 9, messages });
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: body.replace('"input":0', '"input":{"at":9007199254740993}'),
  });
  expect(answer.status).toBe(200);
  expect(lastBody()).toContain('{"at":9007199254740993}');
  expect(lastBody()).not.toContain("Hmm.");
});

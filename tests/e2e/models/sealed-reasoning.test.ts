import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Tool loops over several accounts of a vendor that only decrypts reasoning that the same account encrypted. */
let world: World;
let vendor: FakeVendor;
let client: OpenAI;

const refusal = {
  error: {
    message: "The encrypted content could not be verified.",
    type: "invalid_request_error",
    param: null,
    code: "invalid_encrypted_content",
  },
};

beforeAll(async () => {
  vendor = fakeVendor(({ headers, body, path }) => {
    const account = headers.authorization ?? "";
    const { input, stream } = JSON.parse(body) as { input: any[]; stream?: boolean };
    const sealed = input.filter(({ type }) => type === "reasoning" || type === "compaction");
    const seals = sealed.map((item) => item.encrypted_content);
    if (seals.some((seal) => seal !== `sealed by ${account}`)) return Response.json(refusal, { status: 400 });
    if (path.endsWith("/compact"))
      return Response.json({
        ...{ id: "resp_c", object: "response.compaction", created_at: 1 },
        output: [{ id: "cmp_1", type: "compaction", encrypted_content: `sealed by ${account}` }],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      });
    const isAnswered = input.at(-1)?.type === "function_call_output";
    const content = [{ type: "output_text", text: `Done with ${seals.length} thoughts`, annotations: [] }];
    const output = isAnswered
      ? [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content }]
      : [
          { type: "reasoning", id: "rs_1", summary: [], encrypted_content: `sealed by ${account}` },
          { type: "function_call", id: "fc_1", call_id: `call_${crypto.randomUUID()}`, name: "look", arguments: "{}", status: "completed" },
        ];
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const response = { id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed", output, usage };
    if (stream !== true) return Response.json(response);
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
      ...output.flatMap((item, output_index) => [
        { type: "response.output_item.added", output_index, item },
        { type: "response.output_item.done", output_index, item },
      ]),
      { type: "response.completed", response },
    ];
    const frames = events.map((event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`);
    return new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } });
  });
  world = await startWorld();
  const { admin, gateway } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  await admin.post("/v1/admin/llm-router/routing-groups", { tenant_id: "default", id: "both", routing_strategy: "ordered" });
  for (const account of ["one", "other"]) {
    await admin.post("/v1/admin/providers", {
      ...{ tenant_id: "default", provider_key: account, api_format: "openai", base_url: `${vendor.origin}/v1`, api_key: `sk-${account}` },
    });
    await admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name: `${account}-of-both`, model_name: "m", provider: account, modes: ["responses", "chat"] },
      ...{ group_ids: [group.id], routing_group_id: "both", routing_weight: account === "other" ? 2 : 1 },
    });
    for (const name of [account, `${account}-again`])
      await admin.post("/v1/admin/llms", {
        ...{ tenant_id: "default", name, model_name: "m", provider: account, modes: ["responses"], group_ids: [group.id] },
      });
  }
  const { key_value } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" });
  client = new OpenAI({ baseURL: `${gateway.runtimeUrl}/v1/proxy/llm`, apiKey: key_value, maxRetries: 0 });
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const ways = [
  ["one-again", 1, false],
  ["one-again", 1, true],
  ["other", 0, false],
  ["other", 0, true],
] as const;

test.each(ways)("encrypted reasoning carried by the client: model %s is sent %i reasoning items (streamed: %p)", async (...way) => {
  const [model, thoughts, stream] = way;
  const tools = [{ type: "function" as const, name: "look", parameters: { type: "object" }, strict: false }];
  const question = { role: "user" as const, content: "Look." };
  const asked = { model: "one", input: [question], tools, store: false, include: ["reasoning.encrypted_content" as const] };
  const { output } = stream ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked);
  const call = output.at(-1) as OpenAI.Responses.ResponseFunctionToolCall;
  const answer = await client.responses.create({
    ...{ ...asked, model },
    input: [question, ...(output as OpenAI.Responses.ResponseInput), { type: "function_call_output", call_id: call.call_id, output: "4" }],
  });
  expect(answer.output_text).toBe(`Done with ${thoughts} thoughts`);
});

test.each(ways)(
  "encrypted reasoning kept for a chat client: model %s is sent %i reasoning items (streamed: %p)",
  async (model, thoughts, stream) => {
    const tools = [{ type: "function" as const, function: { name: "look", parameters: { type: "object" } } }];
    const question: OpenAI.ChatCompletionMessageParam = { role: "user", content: "Look." };
    const asked = { model: "one", messages: [question], tools };
    const { choices } = stream
      ? await client.chat.completions.stream({ ...asked, stream }).finalChatCompletion()
      : await client.chat.completions.create(asked);
    const calls = choices[0]?.message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
    const answer = await client.chat.completions.create({
      model,
      tools,
      messages: [
        question,
        { role: "assistant", content: null, tool_calls: calls },
        { role: "tool", tool_call_id: calls[0]?.id as string, content: "4" },
      ],
    });
    expect(answer.choices[0]?.message.content).toBe(`Done with ${thoughts} thoughts`);
  },
);

test("a compacted conversation continues at the account that compacted it and is refused elsewhere", async () => {
  const { output } = await client.responses.compact({ model: "one", input: [{ role: "user", content: "Look." }] });
  const input = [...(output as OpenAI.Responses.ResponseInput), { role: "user" as const, content: "And?" }];
  // Without the compacted item, the other account would be called first.
  for (let time = 0; time < 2; time++) {
    const { response } = await client.responses.create({ model: "both", input, store: false }).withResponse();
    expect(await rowOf(world.admin, { id: response.headers.get("x-request-id") })).toMatchObject({
      ...{ llm_model_used: "one-of-both", llm_used_fallback: false, success: true },
    });
  }
  await client.responses.compact({ model: "both", input });
  const asked = vendor.seen.length;
  const refused = await client.responses.create({ model: "other", input, store: false }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
  expect(String(refused)).toContain("`input`: holds a compacted conversation");
  expect(vendor.seen.length).toBe(asked);
});

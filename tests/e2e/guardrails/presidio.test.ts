import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { ANSWER_SURFACES, type AnswerSurface } from "../../support/formats/answer-streams.ts";
import { analyzed } from "../../support/vendors/fake-presidio.ts";
import { type FakeVendor, fakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";
import { rowOf } from "../../support/worlds/admin.ts";

let world: World;
let vendor: FakeVendor;
let engine: FakeVendor;
let answer: () => Response;
let analyze: Parameters<typeof fakeVendor>[0];
const keys: Record<string, string> = {};
const tenant = { tenant_id: "default" };
const chat = ANSWER_SURFACES[0] as AnswerSurface;
const NAMES = ["Ada Lovelace", "Zoë 😀 Ng", "Bob"];

beforeAll(async () => {
  vendor = fakeVendor(() => answer());
  engine = fakeVendor((request) => analyze?.(request) ?? Response.json([]));
  world = await startWorld();
  const { admin } = world;
  const provider = { provider_key: "openai", api_format: "openai", base_url: `${vendor.origin}/v1`, api_key: "vendor-secret-0001" };
  await admin.post("/v1/admin/providers", { ...tenant, ...provider });
  const model = { ...tenant, name: "m", model_name: "m", provider: "openai", modes: ["chat"], enabled: true };
  const { id } = await admin.post("/v1/admin/llms", model);
  const add = async (name: string, surfaces: object, given: object, builtin: object = {}) => {
    const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name, group_type: "team" });
    await admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: [id] });
    const providers = [{ provider: "presidio", endpoint: engine.origin, entities: ["PERSON"], ...given }];
    await admin.post("/v1/admin/guardrails/configs", { ...tenant, name, group_ids: [group.id], surfaces, builtin, providers });
    keys[name] = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name, access_mode: "shared" })).key_value;
  };
  await add("redact", { chat_input: true }, { action: "redact" }, { pii_enabled: true });
  await add("restore", { chat_input: true }, { action: "redact" }, { pii_enabled: true, pii_restore: true });
  await add("block", { chat_input: true }, {});
  await add("answers", { chat_output: true }, { action: "redact" });
});

beforeEach(() => {
  vendor.seen.length = 0;
  analyze = (request) => analyzed(request, NAMES);
  answer = () => Response.json(chat.whole("ok"));
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
  await engine.stop();
});

const client = (name: string) =>
  new OpenAI({ apiKey: keys[name] ?? "", baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
const said = async (name: string, messages: OpenAI.ChatCompletionMessageParam[]) =>
  (await client(name).chat.completions.create({ model: "m", messages })).choices[0]?.message.content;
const refusal = (asked: Promise<unknown>) => asked.then(String, (error: unknown) => error as InstanceType<typeof OpenAI.APIError>);

describe("Presidio on requests", () => {
  test("has its findings redacted wherever they are in the request", async () => {
    await said("redact", [
      {
        role: "user",
        content: [
          { type: "text", text: "😀 I am Zoë 😀 Ng, not Bobby; and Ada Love" },
          { type: "text", text: "lace; joe@example.com" },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"who":"Bob","n":1}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "Bob said so" },
    ]);
    const { messages } = JSON.parse(vendor.seen[0]?.body ?? "");
    expect(messages[0].content.map(({ text }: any) => text)).toEqual([
      "😀 I am [REDACTED:person], not Bobby; and [REDACTED:person]",
      "[REDACTED:person]; [REDACTED:email]",
    ]);
    expect(messages[1].tool_calls[0].function.arguments).toBe('{"who":"[REDACTED:person]","n":1}');
    expect(messages[2].content).toBe("[REDACTED:person] said so");
  });

  test("has them put back into the answer if the configuration does so", async () => {
    answer = () => Response.json(chat.whole("Dear [PERSON_1], [EMAIL_1] is yours"));
    expect(await said("restore", [{ role: "user", content: "I am Ada Lovelace, ada@example.com" }])).toBe(
      "Dear Ada Lovelace, ada@example.com is yours",
    );
    expect(vendor.seen[0]?.body).toContain("I am [PERSON_1], [EMAIL_1]");
  });

  test("does not redact placeholders of other checks, and puts back a name that holds one", async () => {
    analyze = (request) => analyzed(request, ["EMAIL_1", "REDACTED", "[EMAIL_1] Smith"]);
    answer = () => Response.json(chat.whole("From [EMAIL_1] to [PERSON_1]"));
    expect(await said("restore", [{ role: "user", content: "I am joe@example.com, not joe@example.com Smith" }])).toBe(
      "From joe@example.com to joe@example.com Smith",
    );
    expect(vendor.seen[0]?.body).toContain("I am [EMAIL_1], not [PERSON_1]");
    await said("redact", [{ role: "user", content: "I am joe@example.com" }]);
    expect(vendor.seen[1]?.body).toContain("I am [REDACTED:email]");
  });

  test("redacts what only looks like a placeholder, because no brackets are around it", async () => {
    analyze = (request) => analyzed(request, ["ACCOUNT_1234567"]);
    answer = () => Response.json(chat.whole("[PERSON_1] is open"));
    expect(await said("restore", [{ role: "user", content: "Is ACCOUNT_1234567 open?" }])).toBe("ACCOUNT_1234567 is open");
    expect(vendor.seen[0]?.body).toContain("Is [PERSON_1] open?");
  });

  test("puts back values of entities with any name", async () => {
    analyze = () => Response.json([{ start: 5, end: 8, score: 1, entity_type: "1ST_NAME" }]);
    answer = () => Response.json(chat.whole("Dear [ST_NAME_1]"));
    expect(await said("restore", [{ role: "user", content: "I am Bob" }])).toBe("Dear Bob");
  });

  test("leaves no part of a name in the redacted preview of the answer", async () => {
    analyze = (request) => analyzed(request, ["[EMAIL_1] Smith"]);
    answer = () => Response.json(chat.whole("From [PERSON_1]"));
    const sent = client("restore").chat.completions.create({
      model: "m",
      messages: [{ role: "user", content: "I am joe@example.com Smith" }],
    });
    const { data, response } = await sent.withResponse();
    expect(data.choices[0]?.message.content).toBe("From joe@example.com Smith");
    const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") as string });
    expect(row.response_body_preview).toContain("From [PERSON_1]");
    expect(JSON.stringify(row)).not.toContain("Smith");
  });

  test("blocks unless it is to redact", async () => {
    const refused = (await refusal(said("block", [{ role: "user", content: "I am Bob" }]))) as InstanceType<typeof OpenAI.APIError>;
    expect([refused.status, (refused.error as any).check]).toEqual([403, "pii"]);
    expect(await said("block", [{ role: "user", content: "I am nobody" }])).toBe("ok");
  });

  test.each([
    ["is broken", () => new Response("no", { status: 500 })],
    ["places a finding outside the text", () => Response.json([{ start: 0, end: 10_000, score: 1, entity_type: "PERSON" }])],
    ["finds a part of a word", () => Response.json([{ start: 1, end: 3, score: 1, entity_type: "PERSON" }])],
  ])("lets nothing pass if it %s", async (_how, broken) => {
    analyze = broken;
    const refused = (await refusal(said("redact", [{ role: "user", content: "hello Bob" }]))) as InstanceType<typeof OpenAI.APIError>;
    expect([refused.status, vendor.seen.length]).toEqual([403, 0]);
  });
});

test.each([false, true])("Presidio on answers has its findings redacted (streamed: %p)", async (stream) => {
  const pieces = ["I met A", "da Love", "lace and Bob"];
  answer = () =>
    stream
      ? new Response(Buffer.concat(chat.frames(pieces)), { headers: { "content-type": "text/event-stream" } })
      : Response.json(chat.whole(pieces.join("")));
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keys["answers"]}` },
    body: JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: "Whom?" }] }),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const got = stream ? chat.read(bytes) : chat.readWhole(JSON.parse(new TextDecoder().decode(bytes)));
  expect(got.text).toBe("I met [REDACTED:person] and [REDACTED:person]");
  const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") as string });
  expect(row).toMatchObject({ guardrail_action: "redact", guardrail_check: "pii", pii_detected: true, guardrail_blocked: false });
});

test.each([
  [{ provider: "webhook", endpoint: "https://hook.example", action: "redact" }, "providers.0.action"],
  [{ provider: "webhook", endpoint: "https://hook.example", entities: ["PERSON"] }, "providers.0.entities"],
  [{ provider: "presidio" }, "providers.0.endpoint"],
  [{ provider: "presidio", endpoint: "https://p.example", entities: ["person"] }, "providers.0.entities.0"],
  [{ provider: "presidio", endpoint: "https://p.example", language: "English!" }, "providers.0.language"],
])("an engine that cannot be so is refused by the name of its field: %j", async (given, field) => {
  const { status, body } = await world.admin.request("POST", "/v1/admin/guardrails/configs", { ...tenant, name: "x", providers: [given] });
  expect([status, body.fields.map((one: any) => one.field)]).toEqual([400, [field]]);
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { ANSWER_SURFACES, type AnswerSurface } from "../../support/formats/answer-streams.ts";
import { type FakeVendor, fakeVendor, type VendorRequest } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let vendor: FakeVendor;
let answer: (request: VendorRequest) => Response;
let key: string;
let groupId: string;
const tenant = { tenant_id: "default" };
const PROVIDERS = [
  ["openai", "/v1", ["chat", "completion"]],
  ["openai", "/v1", ["responses"]],
  ["anthropic", "", ["chat"]],
  ["gemini", "/v1beta", ["chat"]],
] as const;

const MAIL = "joe@example.com";
const CARD = "4111 1111 1111 1111";
const ASKED = `Mail ${MAIL}, not ann@example.com; again ${MAIL}. Card ${CARD}.`;
const SENT = "Mail [EMAIL_1], not [EMAIL_2]; again [EMAIL_1]. Card [CREDIT_CARD_1].";

beforeAll(async () => {
  vendor = fakeVendor((request) => answer(request));
  world = await startWorld();
  const { admin } = world;
  const models: string[] = [];
  for (const [api_format, base, modes] of PROVIDERS) {
    const name = `${api_format}-${modes[0]}`;
    const provider = { provider_key: name, api_format, base_url: `${vendor.origin}${base}`, api_key: "vendor-secret-0001" };
    await admin.post("/v1/admin/providers", { ...tenant, ...provider });
    models.push((await admin.post("/v1/admin/llms", { ...tenant, name, model_name: name, provider: name, modes, enabled: true })).id);
  }
  await admin.request("PATCH", "/v1/admin/tenants/default", { data_retention: { store_bodies: "full" } });
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "restoring", group_type: "team" });
  groupId = group.id;
  await admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: models });
  const builtin = { pii_enabled: true, pii_restore: true, secrets_enabled: true, secrets_action: "redact" };
  await admin.post("/v1/admin/guardrails/configs", { ...tenant, name: "restoring", group_ids: [group.id], builtin });
  key = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
});

beforeEach(() => {
  vendor.seen.length = 0;
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

function requestOf(format: AnswerSurface["format"], text: string): readonly [model: string, path: string, body: object] {
  const messages = [{ role: "user", content: text }];
  if (format === "chat") return ["openai-chat", "/v1/proxy/llm/chat/completions", { messages }];
  if (format === "completions") return ["openai-chat", "/v1/proxy/llm/completions", { prompt: text }];
  if (format === "responses") return ["openai-responses", "/v1/proxy/llm/responses", { input: text }];
  if (format === "messages") return ["anthropic-chat", "/v1/messages", { max_tokens: 100, messages }];
  return ["gemini-chat", "", { contents: [{ role: "user", parts: [{ text }] }] }];
}

async function ask({ format, framing }: AnswerSurface, stream: boolean, text = ASKED): Promise<Response> {
  const [model, path, body] = requestOf(format, text);
  const isGemini = format === "gemini";
  const verb = stream ? `streamGenerateContent${framing === "events" ? "?alt=sse" : ""}` : "generateContent";
  return fetch(`${world.gateway.runtimeUrl}${isGemini ? `/v1beta/models/${model}:${verb}` : path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ ...(isGemini ? {} : { model, stream }), ...body }),
  });
}

const lastRow = (response: Response) => rowOf(world.admin, { id: response.headers.get("x-request-id") as string });

describe.each(ANSWER_SURFACES.map((surface) => [surface.name, surface] as const))(
  "%s: a value redacted in the request",
  (_name, surface) => {
    const call =
      surface.format === "completions" ? undefined : { name: "send", pieces: ['{"to":"[EMA', 'IL_2]","n":12345678901234567890}'] };
    const PIECES = ["I mailed [", "EMA", "IL_", "1", "] and [EMAIL_9], charged [CREDIT_CARD_1]", "[PHONE_1]."];
    const TOLD = `I mailed ${MAIL} and [EMAIL_9], charged ${CARD}[PHONE_1].`;
    const calls = call === undefined ? [] : [{ name: "send", arguments: '{"to":"ann@example.com","n":12345678901234567890}' }];
    const exact = ({ arguments: given, ...rest }: { name: string; arguments: string }) => ({ ...rest, arguments: JSON.parse(given) });

    async function check(response: Response, read: (bytes: Uint8Array) => ReturnType<AnswerSurface["read"]>) {
      expect(response.status).toBe(200);
      const bytes = new Uint8Array(await response.arrayBuffer());
      const got = read(bytes);
      expect(got.text).toBe(TOLD);
      expect(got.calls.map(exact)).toEqual(calls.map(exact));
      expect(vendor.seen[0]?.body).toContain(SENT);
      expect(vendor.seen[0]?.body).not.toContain("example.com");
      const row = await lastRow(response);
      expect(row).toMatchObject({ guardrail_action: "redact", pii_detected: true, guardrail_blocked: false });
      expect(JSON.stringify(row)).not.toContain("example.com");
      expect(JSON.stringify(row)).not.toContain(CARD);
      expect(row.response_body_preview).toContain("[CREDIT_CARD_1]");
    }

    test("is in the whole answer for the caller, and nowhere else", async () => {
      answer = () => Response.json(surface.whole(PIECES.join(""), call));
      await check(await ask(surface, false), (bytes) => surface.readWhole(JSON.parse(new TextDecoder().decode(bytes))));
    });

    test("is in the streamed answer, wherever its placeholder is split", async () => {
      answer = () => new Response(Buffer.concat(surface.frames(PIECES, call)), { headers: { "content-type": "text/event-stream" } });
      if (surface.framing === "array")
        answer = () => new Response(Buffer.concat(surface.frames(PIECES, call)), { headers: { "content-type": "application/json" } });
      await check(await ask(surface, true), (bytes) => surface.read(bytes));
    });
  },
);

describe("with OpenAI's client", () => {
  const client = () => new OpenAI({ apiKey: key, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
  const chat = ANSWER_SURFACES[0] as AnswerSurface;
  const said = async (content: string) =>
    (await client().chat.completions.create({ model: "openai-chat", messages: [{ role: "user", content }] })).choices[0]?.message.content;

  test("a placeholder that the caller wrote is given to no value, and stays as it is", async () => {
    answer = () => Response.json(chat.whole("[EMAIL_1] is yours, [EMAIL_2] is known"));
    expect(await said(`What does [EMAIL_1] mean? I am ${MAIL}`)).toBe(`[EMAIL_1] is yours, ${MAIL} is known`);
    expect(vendor.seen[0]?.body).toContain("I am [EMAIL_2]");
  });

  test("JSON that a model writes stays JSON, whatever the value holds", async () => {
    answer = () => Response.json(chat.whole('{"to": "[EMAIL_1]", "card": [CREDIT_CARD_1]}'));
    expect(JSON.parse((await said(`I am o'neil@example.com with ${CARD}`)) ?? "")).toEqual({ to: "o'neil@example.com", card: CARD });
  });

  test("a value in JSON is put back as it reads", async () => {
    answer = () => Response.json(chat.whole("It is [EMAIL_1]"));
    expect(await said('{"mail": "gr\\u00fcn@example.com"}')).toBe("It is grün@example.com");
    expect(vendor.seen[0]?.body).toContain("[EMAIL_1]");
  });

  test("a credential is redacted for good, also where a value overlaps it", async () => {
    answer = () => Response.json(chat.whole("[EMAIL_1] [REDACTED:github_token] [GITHUB_TOKEN_1]"));
    const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    expect(await said(`${MAIL} has ${token}`)).toBe(`${MAIL} [REDACTED:github_token] [GITHUB_TOKEN_1]`);
  });

  test("the next turn of a conversation has the same placeholders", async () => {
    answer = () => Response.json(chat.whole("ok"));
    const messages = [
      { role: "user" as const, content: `I am ${MAIL}` },
      { role: "assistant" as const, content: `Hello ${MAIL}` },
      { role: "user" as const, content: `Write to bob@example.com as ${MAIL}` },
    ];
    await client().chat.completions.create({ model: "openai-chat", messages });
    expect(JSON.parse(vendor.seen[0]?.body ?? "").messages.map(({ content }: any) => content)).toEqual([
      "I am [EMAIL_1]",
      "Hello [EMAIL_1]",
      "Write to [EMAIL_2] as [EMAIL_1]",
    ]);
  });

  test("another call's value never appears", async () => {
    answer = ({ body }) => Response.json(chat.whole(body.includes("nobody") ? "[EMAIL_1] [PHONE_1]" : "hello [EMAIL_1]"));
    const all = await Promise.all(Array.from({ length: 30 }, (_, n) => (n % 3 === 0 ? said("nobody") : said(`I am user${n}@example.com`))));
    expect(all).toEqual(all.map((_, n) => (n % 3 === 0 ? "[EMAIL_1] [PHONE_1]" : `hello user${n}@example.com`)));
  });

  test("an error of the provider keeps the placeholder, and so does its row", async () => {
    answer = () => Response.json({ error: { message: "cannot mail [EMAIL_1]", type: "invalid_request_error" } }, { status: 400 });
    const failure = await said(`I am ${MAIL}`).catch((error: unknown) => error as InstanceType<typeof OpenAI.APIError>);
    expect(String((failure as Error).message)).toContain("[EMAIL_1]");
  });

  test("a request that continues a stored conversation repeats no placeholder of it", async () => {
    const responses = ANSWER_SURFACES.find(({ name }) => name === "responses") as AnswerSurface;
    answer = ({ body }) => {
      const [given = ""] = /\[EMAIL_\d+\]/.exec(body) ?? [];
      return Response.json(responses.whole(`[EMAIL_1] then ${given}`));
    };
    const create = (input: string, previous_response_id?: string) =>
      client().responses.create({ model: "openai-responses", input, store: true, ...(previous_response_id && { previous_response_id }) });
    const first = await create(`I am ${MAIL}`);
    expect(first.output_text).toBe(`${MAIL} then ${MAIL}`);
    const second = await create("I am bob@example.com", first.id);
    expect(second.output_text).toBe("[EMAIL_1] then bob@example.com");
  });

  test("argument policies judge the arguments as the caller gets them", async () => {
    const send = { name: "send", pieces: ['{"to":"[EMAIL_1]"}'] };
    answer = () => Response.json(chat.whole("", send));
    await world.admin.post("/v1/admin/argument-policies", {
      ...tenant,
      name: "only bob",
      target: "send",
      argument_key: "to",
      group_ids: [groupId],
      analyzer: "values",
      rules: [{ deny_if: "in", message: "Not to Joe.", values: [MAIL] }],
    });
    expect(await said("I am bob@example.com")).toBe("");
    const refused = (await said(`I am ${MAIL}`).catch((error: unknown) => error)) as InstanceType<typeof OpenAI.APIError>;
    expect(refused.status).toBe(403);
    const row = await rowOf(world.admin, { id: refused.headers?.get("x-request-id") as string });
    expect(row.argument_policy_denied).toBe(true);
    expect(JSON.stringify(row)).not.toContain("example.com");
  });

  describe.each([false, true])("a placeholder that the model repeats a hundred thousand times (streamed: %p)", (stream) => {
    const mail = `${"a".repeat(60)}@example.com`;
    const COUNT = 100_000;
    const frames = () => chat.frames(Array.from({ length: 1_000 }, () => "[EMAIL_1]".repeat(COUNT / 1_000)));

    test("becomes the value each time, and the preview has no part of it where it is cut", async () => {
      answer = () =>
        stream
          ? new Response(Buffer.concat(frames()), { headers: { "content-type": "text/event-stream" } })
          : Response.json(chat.whole("[EMAIL_1]".repeat(COUNT)));
      const response = await ask(chat, stream, `I am ${mail}`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      const got = stream ? chat.read(bytes) : chat.readWhole(JSON.parse(new TextDecoder().decode(bytes)));
      expect(got.text === mail.repeat(COUNT)).toBe(true);
      const row = await lastRow(response);
      expect(row.response_body_preview).toContain("[EMAIL_1]");
      expect(row.response_body_preview).not.toContain("aaa");
    });
  });

  test("a value that is long only by invisible characters keeps the usual placeholder", async () => {
    answer = () => Response.json(chat.whole("[CREDIT_CARD_1]".repeat(1_000)));
    expect(await said(`Card 4111${"\u200b".repeat(50_000)}1111 1111 1111`)).toBe("[CREDIT_CARD_1]".repeat(1_000));
    expect(vendor.seen[0]?.body).toContain("Card [REDACTED:credit_card]");
  });

  test("the next provider is sent the same placeholders, and they are put back into its answer", async () => {
    const { admin } = world;
    const provider = { provider_key: "other", api_format: "openai", base_url: `${vendor.origin}/other/v1`, api_key: "vendor-secret-0002" };
    await admin.post("/v1/admin/providers", { ...tenant, ...provider });
    await admin.post("/v1/admin/llm-router/routing-groups", { ...tenant, id: "either", routing_strategy: "ordered" });
    const member = { ...tenant, mode: "chat", group_ids: [groupId], routing_group_id: "either" };
    await admin.post("/v1/admin/llms", { ...member, name: "either-1", provider: "openai-chat", routing_weight: 2 });
    await admin.post("/v1/admin/llms", { ...member, name: "either-2", provider: "other", routing_weight: 1 });
    answer = ({ path }) =>
      path.startsWith("/other")
        ? Response.json(chat.whole("Dear [EMAIL_1]"))
        : Response.json({ error: { message: "[EMAIL_1] is too much" } }, { status: 503 });
    const messages = [{ role: "user" as const, content: `I am ${MAIL}` }];
    const given = await client().chat.completions.create({ model: "either", messages });
    expect(given.choices[0]?.message.content).toBe(`Dear ${MAIL}`);
    expect(vendor.seen.at(-1)?.path).toStartWith("/other");
    for (const { body } of vendor.seen) expect(body).toContain("I am [EMAIL_1]");
  });
});

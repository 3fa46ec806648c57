import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf, serveModels } from "../../support/worlds/admin.ts";
import { type FakeVendor, fakeVendor } from "../../support/vendors/fake-vendor.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { nextLook } from "../../support/until.ts";
import type { ClientId, ProviderId } from "../../support/vendors/matrix.ts";
import { TOOL, USAGE } from "../../support/vendors/scene.ts";
import { startSdkWorld, type SdkWorld } from "../../support/vendors/sdk-world.ts";

/** Every text surface with its official client: a tool call of the model is allowed, marked or denied, whole and streamed. */
let world: SdkWorld;

const MESSAGE = "This city is not to be asked for.";
const rule = (deny_if: string, values?: readonly string[]) => [{ deny_if, message: MESSAGE, ...(values === undefined ? {} : { values }) }];
const city = (name: string) => ({ type: "object", properties: { city: { enum: [name] } }, required: ["city"] });

/** Policies for the fake vendors' one call, `weather` with the city Oslo. */
const POLICIES = {
  "values allow": { outcome: "allow", policy: { argument_key: "city", analyzer: "values", rules: rule("in", ["Paris"]) } },
  "values deny": { outcome: "deny", policy: { argument_key: "city", analyzer: "values", rules: rule("in", ["Oslo"]) } },
  "values warn": { outcome: "warn", policy: { argument_key: "city", analyzer: "values", severity: "warn", rules: rule("in", ["Oslo"]) } },
  "json_schema allow": { outcome: "allow", policy: { analyzer: "json_schema", schema: city("Oslo"), rules: rule("invalid") } },
  "json_schema deny": { outcome: "deny", policy: { analyzer: "json_schema", schema: city("Paris"), rules: rule("invalid") } },
  "sql deny": { outcome: "deny", policy: { argument_key: "city", analyzer: "sql", rules: [...rule("writes"), ...rule("unparseable")] } },
  "shell allow": { outcome: "allow", policy: { argument_key: "city", analyzer: "shell", rules: rule("chaining") } },
  "path allow": { outcome: "allow", policy: { argument_key: "city", analyzer: "path", rules: rule("traversal") } },
  "url deny": {
    outcome: "deny",
    policy: { argument_key: "city", analyzer: "url", rules: [...rule("private_address"), ...rule("unparseable")] },
  },
  "policy of another tool": {
    outcome: "none",
    policy: { target: "forecast", argument_key: "city", analyzer: "values", rules: rule("in", ["Oslo"]) },
  },
} as const;
type Case = keyof typeof POLICIES;

const keys = new Map<Case, { readonly apiKey: string; readonly apiKeyId: string; readonly policyId: string }>();

beforeAll(async () => {
  world = await startSdkWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const { resource_groups: groups } = await admin.get("/v1/admin/resource-groups?tenant_id=default&search=team");
  for (const [name, { policy }] of Object.entries(POLICIES)) {
    // Bound to a group, a policy also applies to the group below it.
    const parent = await admin.post("/v1/admin/resource-groups", { ...tenant, name: `parent of ${name}`, parent_group_id: groups[0].id });
    const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name, parent_group_id: parent.id });
    const made = await admin.post("/v1/admin/argument-policies", { ...tenant, name, target: TOOL.name, group_ids: [parent.id], ...policy });
    const key = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name, access_mode: "shared" });
    keys.set(name as Case, { apiKey: key.key_value, apiKeyId: key.id, policyId: made.id });
  }
});

afterAll(() => world.end());

const WAYS: readonly (readonly [ClientId, ProviderId])[] = [
  ["openai chat", "openai"],
  ["openai responses", "openai-responses"],
  ["anthropic 1", "anthropic"],
  ["google genai", "gemini"],
  // Translated formats.
  ["openai chat", "anthropic"],
  ["openai responses", "gemini"],
  ["anthropic 1", "openai"],
  ["google genai", "bedrock"],
];

const table = (Object.keys(POLICIES) as Case[]).flatMap((name) =>
  WAYS.flatMap(([client, provider]) => [false, true].map((stream) => [name, client, provider, stream] as const)),
);

async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => null,
    (error: unknown) => error,
  );
}

describe("a tool call under an argument policy", () => {
  test.each(table)("%s: client %s with provider %s (streamed: %p)", async (name, client, provider, stream) => {
    const { apiKey, apiKeyId, policyId } = keys.get(name) as NonNullable<ReturnType<typeof keys.get>>;
    const { outcome } = POLICIES[name];
    const sdk = world.clientsOf(apiKey).sdks[client];
    const before = Date.now();
    const asked = sdk.ask(`sdk-${provider}`, "tools", stream);
    if (outcome === "deny") {
      const error = await failureOf(asked);
      expect(error).toBeInstanceOf(Error);
      expect(String((error as Error).message)).toContain(MESSAGE);
      if (!stream) expect(sdk.statusOf(error)).toBe(403);
      expect(JSON.stringify(error) + String(error)).not.toContain("Oslo");
    } else {
      expect((await asked).tool).toEqual({ name: TOOL.name, arguments: TOOL.arguments });
    }
    const row = await latestRow(apiKeyId, before);
    expect({
      denied: row.argument_policy_denied,
      policy: row.argument_policy_id,
      error: row.error_type,
      status: row.http_status_code,
      tokens: row.llm_prompt_tokens,
      warned: (row.tags ?? []).includes("argument_policy_warned"),
    }).toEqual({
      denied: outcome === "none" ? null : outcome === "deny",
      policy: outcome === "deny" || outcome === "warn" ? policyId : null,
      error: outcome === "deny" ? "argument_policy_denied" : null,
      status: outcome === "deny" && !stream ? 403 : 200,
      // Usage is what the provider reported, whether or not the answer was delivered.
      tokens: USAGE.input,
      warned: outcome === "warn",
    });
    if (outcome === "deny") expect(row.error_message).toContain(MESSAGE);
  });
});

describe("an argument policy with other controls", () => {
  const tenant = { tenant_id: "default" };

  /** A key of a new group with the given policies. */
  async function keyUnder(name: string, policy: object): Promise<{ readonly apiKey: string; readonly groupId: string }> {
    const { admin } = world;
    const { resource_groups: groups } = await admin.get("/v1/admin/resource-groups?tenant_id=default&search=team");
    const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name, parent_group_id: groups[0].id });
    await admin.post("/v1/admin/argument-policies", {
      ...tenant,
      name,
      target: TOOL.name,
      argument_key: "city",
      group_ids: [group.id],
      ...policy,
    });
    const key = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name, access_mode: "shared" });
    return { apiKey: key.key_value, groupId: group.id };
  }

  test.each([false, true])("judges a tool call as redacted by guardrails (streamed: %p)", async (stream) => {
    const { apiKey, groupId } = await keyUnder(`redacted ${stream}`, { analyzer: "values", rules: rule("in", ["Oslo"]) });
    await world.admin.post("/v1/admin/guardrails/configs", {
      ...tenant,
      name: `redacted ${stream}`,
      group_ids: [groupId],
      builtin: { banned_words: ["Oslo"], banned_words_action: "redact" },
    });
    for (const [client, model] of [
      ["openai chat", "openai"],
      ["openai responses", "openai-responses"],
      ["anthropic 1", "anthropic"],
      ["google genai", "gemini"],
    ] as const) {
      const { tool } = await world.clientsOf(apiKey).sdks[client].ask(`sdk-${model}`, "tools", stream);
      expect(tool?.name).toBe(TOOL.name);
      expect(JSON.stringify(tool?.arguments)).toMatch(/^\{"city":"\[REDACTED/);
    }
  });

  test("that warns is named in x-gw-policy-warnings, next to guardrails that warn", async () => {
    const { apiKey, groupId } = await keyUnder("warns, once", { severity: "warn", analyzer: "values", rules: rule("in", ["Oslo"]) });
    for (const [name, surface] of [
      ["watches answers", "output"],
      ["watches questions", "input"],
    ] as const)
      await world.admin.post("/v1/admin/guardrails/configs", {
        ...tenant,
        name,
        group_ids: [groupId],
        surfaces: { chat_input: surface === "input", chat_output: surface === "output" },
        builtin: { banned_words: [surface === "input" ? "weather" : "Oslo"], banned_words_action: "warn" },
      });
    const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "sdk-openai",
        messages: [{ role: "user", content: "tools: the weather, the weather" }],
        tools: [{ type: "function", function: TOOL }],
      }),
    });
    expect(response.status).toBe(200);
    expect(JSON.stringify(await response.json())).toContain("Oslo");
    expect((response.headers.get("x-gw-policy-warnings") ?? "").split(", ").toSorted()).toEqual([
      "warns%2C%20once",
      "watches%20answers",
      "watches%20questions",
    ]);
  });

  test("refuses a stream that a semantic policy holds with status 403", async () => {
    const { apiKey, groupId } = await keyUnder("held", { analyzer: "values", rules: rule("in", ["Oslo"]) });
    const { llms } = await world.admin.get("/v1/admin/llms?tenant_id=default&search=sdk-echo");
    await world.admin.post("/v1/admin/semantic-policies", {
      ...tenant,
      name: "held",
      constraint_text: "Be kind.",
      surfaces: ["chat_output"],
      judge_model_id: llms[0].id,
      on_judge_failure: "allow",
      resource_group_ids: [groupId],
    });
    for (const [client, model] of [
      ["openai chat", "openai"],
      ["anthropic 1", "anthropic"],
    ] as const) {
      const sdk = world.clientsOf(apiKey).sdks[client];
      const error = await failureOf(sdk.ask(`sdk-${model}`, "tools", true));
      expect([sdk.statusOf(error), String((error as Error).message).includes(MESSAGE)]).toEqual([403, true]);
    }
  });
});

test("a changed argument policy takes effect in a running gateway", async () => {
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const { resource_groups: groups } = await admin.get("/v1/admin/resource-groups?tenant_id=default&search=team");
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "changing", parent_group_id: groups[0].id });
  const key = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "changing", access_mode: "shared" });
  const sdk = world.clientsOf(key.key_value).sdks["openai chat"];
  const denied = async () => (await failureOf(sdk.ask("sdk-openai", "tools", true))) !== null;
  const soon = async (expected: boolean) => {
    const deadline = Date.now() + PATIENCE_MS;
    while ((await denied()) !== expected) if (Date.now() > deadline) throw new Error("the change does not hold");
  };
  expect(await denied()).toBe(false);
  const policy = await admin.post("/v1/admin/argument-policies", {
    ...tenant,
    name: "changing",
    target: TOOL.name,
    ...POLICIES["values deny"].policy,
    group_ids: [],
  });
  await admin.post(`/v1/admin/argument-policies/${policy.id}/groups`, { group_ids: [group.id] });
  await soon(true);
  await admin.request("PATCH", `/v1/admin/argument-policies/${policy.id}`, { rules: rule("in", ["Paris"]) });
  await soon(false);
  await admin.request("PATCH", `/v1/admin/argument-policies/${policy.id}`, { rules: rule("in", ["Oslo"]) });
  await soon(true);
  await admin.request("DELETE", `/v1/admin/argument-policies/${policy.id}`);
  await soon(false);
});

/** An upstream that sends what the test tells it to, when told. */
describe("a stream whose upstream pauses", () => {
  let vendor: FakeVendor;
  let upstream: ReadableStreamDefaultController<Uint8Array>;
  let apiKey: string;

  beforeAll(async () => {
    vendor = fakeVendor(
      () =>
        new Response(
          new ReadableStream<Uint8Array>({
            start(controller) {
              upstream = controller;
              say({ role: "assistant", content: "Before" });
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        ),
    );
    const served = await serveModels(world.admin, `${vendor.origin}/v1`, ["paused"], { group: "paused", providerKey: "paused" });
    apiKey = served.apiKey;
    await world.admin.post("/v1/admin/argument-policies", {
      tenant_id: "default",
      name: "paused",
      target: TOOL.name,
      argument_key: "city",
      analyzer: "values",
      rules: rule("in", ["Oslo"]),
      group_ids: [served.groupId],
    });
  });

  afterAll(() => vendor.stop());

  const send = (data: unknown) =>
    upstream.enqueue(new TextEncoder().encode(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`));
  const say = (delta: unknown, finish: string | null = null) =>
    send({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] });
  const call = (text: string, given: object = {}) =>
    say({ tool_calls: [{ index: 0, ...given, function: { ...("id" in given ? { name: TOOL.name } : {}), arguments: text } }] });
  const close = () => {
    send("[DONE]");
    upstream.close();
  };

  async function begun() {
    const stream = await world
      .clientsOf(apiKey)
      .openai.chat.completions.create({ model: "paused", stream: true, messages: [{ role: "user", content: "Hi" }] });
    const chunks = stream[Symbol.asyncIterator]();
    const next = async () => (await chunks.next()).value?.choices[0]?.delta;
    expect((await next())?.content).toBe("Before");
    call("", { id: "call_1", type: "function" });
    call('{"city":');
    say({ content: " between" });
    // The text passes although the call's arguments are incomplete.
    expect((await next())?.content).toBe(" between");
    return next;
  }

  test("passes text while a tool call is held, then the tool call as it came", async () => {
    const next = await begun();
    call('"Rome"}');
    say({}, "tool_calls");
    expect((await next())?.tool_calls?.[0]).toMatchObject({ id: "call_1", function: { name: TOOL.name, arguments: "" } });
    expect((await next())?.tool_calls?.[0]?.function?.arguments).toBe('{"city":');
    expect((await next())?.tool_calls?.[0]?.function?.arguments).toBe('"Rome"}');
    expect(await next()).toEqual({});
    close();
    expect(await next()).toBeUndefined();
  });

  test("ends with an error when the tool call is denied, without showing it", async () => {
    const next = await begun();
    call('"Oslo"}');
    say({}, "tool_calls");
    close();
    const error = (await failureOf(next())) as Error & { error?: unknown };
    expect(error.message).toContain(MESSAGE);
    expect(error.error).toMatchObject({ code: "argument_policy_denied", policy: "paused", tool: TOOL.name, argument_key: "city" });
  });

  test("that breaks off within a tool call ends as interrupted, without showing it", async () => {
    const next = await begun();
    upstream.close();
    const error = (await failureOf(next())) as Error & { error?: { code?: string } };
    expect(error.error?.code).toBe("upstream_interrupted");
  });
});

test("a denied response has the error body of its surface", async () => {
  const { apiKey } = keys.get("values deny") as NonNullable<ReturnType<typeof keys.get>>;
  const { runtimeUrl } = world.gateway;
  const post = async (path: string, body: object) => {
    const response = await fetch(runtimeUrl + path, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify(body),
    });
    return [response.status, await response.json()];
  };
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  const messages = [{ role: "user", content: "Hi" }];
  const detail = { code: "argument_policy_denied", policy: "values deny", tool: TOOL.name, argument_key: "city" };
  expect(
    await post("/v1/proxy/llm/chat/completions", {
      model: "sdk-openai",
      messages,
      tools: [{ type: "function", function: { name: TOOL.name, parameters } }],
    }),
  ).toEqual([403, { error: { ...detail, message: MESSAGE } }]);
  expect(
    await post("/v1/proxy/llm/responses", {
      model: "sdk-openai-responses",
      input: "Hi",
      tools: [{ type: "function", name: TOOL.name, parameters }],
    }),
  ).toEqual([403, { error: { ...detail, message: MESSAGE } }]);
  expect(
    await post("/v1/messages", {
      model: "sdk-anthropic",
      max_tokens: 100,
      messages,
      tools: [{ name: TOOL.name, input_schema: parameters }],
    }),
  ).toEqual([403, { type: "error", error: { type: "permission_error", message: MESSAGE, ...detail }, request_id: expect.any(String) }]);
  expect(
    await post("/v1beta/models/sdk-gemini:generateContent", {
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      tools: [{ functionDeclarations: [{ name: TOOL.name, parameters }] }],
    }),
  ).toEqual([403, { error: { code: 403, status: "PERMISSION_DENIED", message: MESSAGE, details: [detail] } }]);
});

/** The row of the latest call; a key's calls are made one after the other. */
async function latestRow(apiKeyId: string, since: number): Promise<any> {
  for (const begun = Date.now(); ; await nextLook(begun)) {
    const row = await rowOf(world.admin, { api_key_id: apiKeyId });
    if (Date.parse(row.timestamp) >= since - 5) return row;
    if (Date.now() > begun + PATIENCE_MS) throw new Error("the row of the call is not there");
  }
}

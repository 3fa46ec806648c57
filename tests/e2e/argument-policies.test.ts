import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf } from "../support/admin.ts";
import { ANSWER_SURFACES, type AnswerSurface } from "../support/answer-streams.ts";
import { type Caller, type GuardedWorld, type Line, startGuardedWorld } from "../support/guarded-world.ts";

let world: GuardedWorld;
let denied: Caller;
let warned: Caller;
const ids: Record<string, string> = {};

const tenant = { tenant_id: "default" };
const MESSAGE = "Only reading is allowed here.";
const policy = (name: string, given: object = {}) => ({ ...tenant, name, target: "run_sql", argument_key: "query", analyzer: "sql", rules: [{ deny_if: "writes", message: MESSAGE }, { deny_if: "multi_statement", message: MESSAGE }, { deny_if: "ddl", message: MESSAGE }], ...given });

beforeAll(async () => {
  world = await startGuardedWorld();
  const made = (name: string, given: object) => async (groupId: string) => {
    ids[name] = (await world.admin.post("/v1/admin/argument-policies", policy(name, given))).id;
    await world.admin.post(`/v1/admin/argument-policies/${ids[name]}/groups`, { group_ids: [groupId] });
  };
  denied = await world.caller("denied", made("read only", {}));
  warned = await world.caller("warned", made("watched", { severity: "warn" }));
}, 60_000);

afterAll(() => world.end());

async function ask(caller: Caller, surface: AnswerSurface, line: Line, stream: boolean): Promise<{ response: Response; bytes: Uint8Array; body: any; row: any }> {
  const model = world.modelOf(surface, line);
  const bodies: Record<string, [string, object]> = {
    chat: ["/v1/proxy/llm/chat/completions", { model, messages: [{ role: "user", content: "x" }], stream }],
    responses: ["/v1/proxy/llm/responses", { model, input: "x", stream }],
    messages: ["/v1/messages", { model, max_tokens: 100, messages: [{ role: "user", content: "x" }], stream }],
    gemini: [`/v1beta/models/${model}:${stream ? "streamGenerateContent" : "generateContent"}${stream && surface.framing === "events" ? "?alt=sse" : ""}`, { contents: [{ role: "user", parts: [{ text: "x" }] }] }],
  };
  const [path, asked] = bodies[surface.format] as [string, object];
  const response = await fetch(world.gateway.runtimeUrl + path, { method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${caller.apiKey}`, "anthropic-version": "2023-06-01" }, body: JSON.stringify(asked) });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { response, bytes, body: stream ? null : JSON.parse(new TextDecoder().decode(bytes)), row: await rowOf(world.admin, { id: response.headers.get("x-request-id") }) };
}

describe.each(ANSWER_SURFACES.filter(({ name }) => name !== "completions").map((surface) => [surface.name, surface] as const))("%s", (_name, surface) => {
  test("a call that only reads passes, whole and streamed", async () => {
    for (const stream of [false, true]) {
      const { bytes, body, row } = await ask(denied, surface, "query", stream);
      const told = stream ? surface.read(bytes) : surface.readWhole(body);
      expect([told.text, told.calls.map(({ name, arguments: args }) => [name, JSON.parse(args)])]).toEqual(["Look: ", [["run_sql", { query: "SELECT 1" }]]]);
      expect([row.success, row.argument_policy_denied ?? null, row.argument_policy_id]).toEqual([true, null, null]);
    }
  });

  test("a call that writes is denied with the policy's message; in a stream the text before it flows and then an error comes", async () => {
    const told = { message: MESSAGE, policy: "read only", tool: "run_sql", argument_key: "query" };
    const whole = await ask(denied, surface, "write", false);
    expect(whole.response.status).toBe(403);
    if (surface.format === "gemini") expect(whole.body.error).toMatchObject({ code: 403, status: "PERMISSION_DENIED", message: MESSAGE, details: [{ code: "argument_policy_denied", policy: "read only", tool: "run_sql" }] });
    else expect(whole.body.error).toMatchObject({ code: "argument_policy_denied", ...told });
    const streamed = await ask(denied, surface, "write", true);
    const text = new TextDecoder().decode(streamed.bytes);
    expect(streamed.response.status).toBe(200);
    expect(text).toContain("Look: ");
    expect(text).toContain("argument_policy_denied");
    expect(text).toContain(MESSAGE);
    expect(text).not.toContain("DROP");
    expect(text).not.toContain("SELECT");
    for (const { row } of [whole, streamed]) expect(row).toMatchObject({ argument_policy_denied: true, argument_policy_id: ids["read only"], success: false, error_type: "argument_policy_denied" });
  });

  test("a policy that warns lets it pass and marks the row", async () => {
    for (const stream of [false, true]) {
      const { bytes, body, row } = await ask(warned, surface, "write", stream);
      expect((stream ? surface.read(bytes) : surface.readWhole(body)).calls).toHaveLength(1);
      expect(row).toMatchObject({ argument_policy_id: ids.watched, success: true });
      expect(row.argument_policy_denied).not.toBe(true);
    }
  });
});

test("the body of a denial on the compatible surface has exactly these fields", async () => {
  const [chat] = ANSWER_SURFACES as [AnswerSurface];
  expect((await ask(denied, chat, "write", false)).body).toEqual({ error: { code: "argument_policy_denied", message: MESSAGE, policy: "read only", tool: "run_sql", argument_key: "query" } });
});

test("the official client raises it", async () => {
  const error = await denied.openai.chat.completions.stream({ model: "openai-write", messages: [{ role: "user", content: "x" }] }).finalChatCompletion().then(() => null, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(OpenAI.APIError);
  expect((error as { code?: string }).code).toBe("argument_policy_denied");
});

test("binding is told apart from being bound, and wrong input names the field", async () => {
  const { admin } = world;
  const path = `/v1/admin/argument-policies/${ids["read only"]}/groups`;
  expect((await admin.request("POST", path, { group_ids: [denied.groupId] })).body.code).toBe("already_bound");
  expect((await admin.request("DELETE", path, { group_ids: [warned.groupId] })).body.code).toBe("not_bound");
  const both = await admin.request("POST", path, { group_ids: [denied.groupId, warned.groupId] });
  expect(both.body.group_ids).toEqual([denied.groupId, warned.groupId]);
  expect((await admin.request("DELETE", path, { group_ids: [warned.groupId] })).body.group_ids).toEqual([denied.groupId]);
  const bad = async (given: object) => (await admin.request("POST", "/v1/admin/argument-policies", policy("bad", given))).body.fields.map(({ field }: { field: string }) => field);
  expect(await bad({ rules: [{ deny_if: "guess", message: "x" }] })).toEqual(["rules.0.deny_if"]);
  expect(await bad({ argument_key: null })).toEqual(["argument_key"]);
  expect(await bad({ analyzer: "magic" })).toEqual(["analyzer"]);
  expect(await bad({ schema: {} })).toEqual(["schema"]);
  expect(await bad({ group_ids: [crypto.randomUUID()] })).toEqual(["group_ids"]);
  expect((await admin.request("PATCH", `/v1/admin/argument-policies/${ids.watched}`, { analyzer: "shell" })).body.fields[0].field).toBe("rules.0.deny_if");
});

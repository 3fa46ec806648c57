import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { ANSWER_SURFACES, type AnswerSurface } from "../../support/formats/answer-streams.ts";
import { type Caller, type GuardedWorld, startGuardedWorld } from "../../support/worlds/guarded-world.ts";

let world: GuardedWorld;
let redacting: Caller;
let blocking: Caller;
let banning: Caller;

const MAIL = "joe@example.com";
const LEFT = "[REDACTED:email]";
const tenant = { tenant_id: "default" };

beforeAll(async () => {
  world = await startGuardedWorld();
  const config = (name: string, builtin: object) => async (groupId: string) => {
    await world.admin.post("/v1/admin/guardrails/configs", { ...tenant, name, group_ids: [groupId], builtin });
  };
  redacting = await world.caller("redacting", config("redactor", { pii_enabled: true }));
  blocking = await world.caller("blocking", config("wall", { pii_enabled: true, pii_action: "block" }));
  banning = await world.caller("banning", async (groupId) => {
    await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-governance`, {
      governance: { system_prompt: { banned_patterns: ["joe@[a-z.]+"] } },
    });
  });
});

afterAll(() => world.end());

const QUESTIONS: Record<AnswerSurface["format"], readonly [path: string, body: object]> = {
  chat: ["/v1/proxy/llm/chat/completions", { messages: [{ role: "user", content: "Hello" }] }],
  completions: ["/v1/proxy/llm/completions", { prompt: "Hello" }],
  responses: ["/v1/proxy/llm/responses", { input: "Hello" }],
  messages: ["/v1/messages", { max_tokens: 100, messages: [{ role: "user", content: "Hello" }] }],
  gemini: ["", { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }],
};

async function ask(caller: Caller, surface: AnswerSurface, more: object) {
  const model = world.modelOf(surface, "plain");
  const [path, body] = QUESTIONS[surface.format];
  const isGemini = surface.format === "gemini";
  return fetch(`${world.gateway.runtimeUrl}${isGemini ? `/v1beta/models/${model}:generateContent` : path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${caller.apiKey}`, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ ...(isGemini ? {} : { model }), ...body, ...more }),
  });
}

const surfaces = ANSWER_SURFACES.filter(({ name }) => name !== "gemini array");

describe.each(surfaces.map((surface) => [surface.name, surface] as const))("an unknown member of a %s request", (_name, surface) => {
  const more = { a_member_of_tomorrow: { notes: [`Mail ${MAIL}`, 1.5] } };

  test("is redacted in the upstream request and in the audit row", async () => {
    const response = await ask(redacting, surface, more);
    expect(response.status).toBe(200);
    const sent = world.vendor.seen.at(-1)?.body ?? "";
    expect(JSON.parse(sent)).toMatchObject({ a_member_of_tomorrow: { notes: [`Mail ${LEFT}`, 1.5] } });
    const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") as string });
    expect(row).toMatchObject({ guardrail_action: "redact", pii_detected: true });
    expect(JSON.stringify(row)).not.toContain(MAIL);
  });

  test.each(["guardrails", "banned patterns"])("is blocked by %s before the provider is called", async (by) => {
    const before = world.vendor.seen.length;
    const response = await ask(by === "guardrails" ? blocking : banning, surface, more);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("guardrail_blocked");
    expect(world.vendor.seen).toHaveLength(before);
  });

  test("is refused when nested too deeply to inspect", async () => {
    const before = world.vendor.seen.length;
    const deep = JSON.parse(`${'{"a":'.repeat(120)}"${MAIL}"${"}".repeat(120)}`) as object;
    const response = await ask(redacting, surface, { a_member_of_tomorrow: deep });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("a_member_of_tomorrow");
    expect(world.vendor.seen).toHaveLength(before);
  });
});

test("a grammar that would have to be redacted is blocked", async () => {
  const before = world.vendor.seen.length;
  const chat = surfaces[0] as AnswerSurface;
  expect((await ask(redacting, chat, { guided_grammar: `root ::= "${MAIL}"` })).status).toBe(403);
  expect(world.vendor.seen).toHaveLength(before);
});

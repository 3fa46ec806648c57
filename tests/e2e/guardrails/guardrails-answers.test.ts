import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { ANSWER_SURFACES, type AnswerSurface } from "../../support/formats/answer-streams.ts";
import { type FakeVendor, fakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Vendors that hide a value in parts of the answer that clients rarely read. */
let world: World;
let vendor: FakeVendor;
let answer: () => Response;
const keys: Record<string, string> = {};
const MAIL = "joe@example.com";
const tenant = { tenant_id: "default" };
const PROVIDERS = [
  ["openai", "/v1", ["chat", "completion"]],
  ["openai", "/v1", ["responses"]],
  ["anthropic", "", ["chat"]],
  ["gemini", "/v1beta", ["chat"]],
] as const;

beforeAll(async () => {
  vendor = fakeVendor(() => answer());
  world = await startWorld();
  const { admin } = world;
  const models: string[] = [];
  for (const [api_format, base, modes] of PROVIDERS) {
    const name = `${api_format}-${modes[0]}`;
    const provider = { provider_key: name, api_format, base_url: `${vendor.origin}${base}`, api_key: "vendor-secret-0001" };
    await admin.post("/v1/admin/providers", { ...tenant, ...provider });
    models.push((await admin.post("/v1/admin/llms", { ...tenant, name, model_name: name, provider: name, modes, enabled: true })).id);
  }
  for (const action of ["redact", "block"]) {
    const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: action, group_type: "team" });
    await admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: models });
    const builtin = { pii_enabled: true, pii_action: action };
    await admin.post("/v1/admin/guardrails/configs", { ...tenant, name: action, group_ids: [group.id], builtin });
    const made = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" });
    keys[action] = made.key_value;
  }
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const ASKED: Record<AnswerSurface["format"], readonly [model: string, path: string, body: object]> = {
  chat: ["openai-chat", "/v1/proxy/llm/chat/completions", { messages: [{ role: "user", content: "Hello" }] }],
  completions: ["openai-chat", "/v1/proxy/llm/completions", { prompt: "Hello" }],
  responses: ["openai-responses", "/v1/proxy/llm/responses", { input: "Hello" }],
  messages: ["anthropic-chat", "/v1/messages", { max_tokens: 100, messages: [{ role: "user", content: "Hello" }] }],
  gemini: ["gemini-chat", "", { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }],
};

async function ask(action: "redact" | "block", { format }: AnswerSurface, stream: boolean, answered: () => Response) {
  answer = answered;
  const [model, path, body] = ASKED[format];
  const isGemini = format === "gemini";
  const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  const response = await fetch(`${world.gateway.runtimeUrl}${isGemini ? `/v1beta/models/${model}:${verb}` : path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keys[action]}`, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ ...(isGemini ? {} : { model, stream }), ...body }),
  });
  return { response, text: await response.text(), headers: JSON.stringify(Object.fromEntries(response.headers)) };
}

const SURFACES = ANSWER_SURFACES.filter(({ framing }) => framing === "events");

describe.each(SURFACES.map((surface) => [surface.name, surface] as const))("%s: a value that a provider hides", (_name, surface) => {
  const body = surface.whole("All is well.");
  const frames = surface.frames(["All ", "is ", "well."]).map((frame) => new TextDecoder().decode(frame));
  const json = (value: object, init?: ResponseInit) => () => Response.json(value, init);
  const events = (first: string, then: string) => () =>
    new Response([first, frames[0], then, ...frames.slice(1)].join(""), { headers: { "content-type": "text/event-stream" } });
  const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

  test.each([
    ["a member of a whole response", false, json({ ...body, note: { deep: [MAIL] } })],
    ["an error body", false, json({ error: { message: `No ${MAIL}`, type: "invalid_request_error" } }, { status: 400 })],
    ["a plain-text error body", false, () => new Response(`No ${MAIL}`, { status: 400 })],
    ["a member of a stream event", true, events("", data({ type: "note", note: MAIL }))],
    ["an error in a stream", true, events("", data({ type: "error", error: { message: MAIL } }))],
    ["event data that is not an object", true, events("", data([MAIL]))],
    ["event data that is not JSON", true, events("", `data: ${MAIL}\n\n`)],
    ["a comment", true, events(`: ${MAIL}\n\n`, `: ${MAIL}\n\n`)],
    ["an event's name", true, events("", `event: ${MAIL}\n${data({ type: "note" })}`)],
    ["an event's ID", true, events("", `id: ${MAIL}\n${data({ type: "note" })}`)],
    [
      "events after the end",
      true,
      () => new Response(`${frames.join("")}${data({ type: "note", note: MAIL })}`, { headers: { "content-type": "text/event-stream" } }),
    ],
  ] as const)("in %s is not passed to the caller", async (_where, stream, answered) => {
    const redacted = await ask("redact", surface, stream, answered);
    expect(redacted.text).not.toContain(MAIL);
    expect(redacted.text).not.toContain("guardrail_blocked");
    const blocked = await ask("block", surface, stream, answered);
    expect(blocked.text).not.toContain(MAIL);
    // Content after the end of a stream is read by nobody and may be dropped.
    if (_where !== "events after the end") expect(blocked.text).toContain("guardrail_blocked");
  });

  test("in a header is dropped when redacted, and ends the call with 403 when blocked", async () => {
    const answered = json(body, { headers: { "openai-version": MAIL, "x-ratelimit-limit-requests": "60" } });
    const redacted = await ask("redact", surface, false, answered);
    expect([redacted.response.status, redacted.headers.includes(MAIL)]).toEqual([200, false]);
    expect(redacted.response.headers.get("x-ratelimit-limit-requests")).toBe("60");
    const blocked = await ask("block", surface, false, answered);
    expect([blocked.response.status, blocked.headers.includes(MAIL)]).toEqual([403, false]);
    const row = await rowOf(world.admin, { id: blocked.response.headers.get("x-request-id") as string });
    expect(row).toMatchObject({ guardrail_action: "block", guardrail_blocked: true, pii_detected: true });
    const frame = new Response(frames.join(""), { headers: { "content-type": "text/event-stream", "openai-version": MAIL } });
    expect((await ask("block", surface, true, () => frame)).response.status).toBe(403);
  });
});

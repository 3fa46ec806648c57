import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { ANSWER_SURFACES, type AnswerSurface } from "../../support/formats/answer-streams.ts";
import { type FakeVendor, fakeVendor } from "../../support/vendors/fake-vendor.ts";
import { type FakeJudge, startFakeJudge } from "../../support/vendors/fake-judge.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Vendors whose answers mean different things to different JSON parsers. */
let world: World;
let vendor: FakeVendor;
let judge: FakeJudge;
let answer: () => Response;
const keys: Record<string, string> = {};
const tenant = { tenant_id: "default" };
const BANNED = "swordfish";
/** Escaped as JSON permits: invisible to a search in the raw bytes. */
const ESCAPED = "sw\\u006frdf\\u0069sh";
const FINE = "All is well.";
const DENIED = { name: "run_sql", pieces: ['{"query":"DROP ', 'TABLE users"}'] };
const PROVIDERS = [
  ["openai", "/v1", ["chat", "completion"]],
  ["openai", "/v1", ["responses"]],
  ["anthropic", "", ["chat"]],
  ["gemini", "/v1beta", ["chat"]],
] as const;
const ASKED: Record<AnswerSurface["format"], readonly [model: string, path: string, body: object]> = {
  chat: ["openai-chat", "/v1/proxy/llm/chat/completions", { messages: [{ role: "user", content: "Hello" }] }],
  completions: ["openai-chat", "/v1/proxy/llm/completions", { prompt: "Hello" }],
  responses: ["openai-responses", "/v1/proxy/llm/responses", { input: "Hello" }],
  messages: ["anthropic-chat", "/v1/messages", { max_tokens: 100, messages: [{ role: "user", content: "Hello" }] }],
  gemini: ["gemini-chat", "", { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }],
};

beforeAll(async () => {
  vendor = fakeVendor(() => answer());
  judge = startFakeJudge();
  world = await startWorld();
  const { admin } = world;
  const models: string[] = [];
  for (const [api_format, base, modes] of PROVIDERS) {
    const name = `${api_format}-${modes[0]}`;
    const provider = { provider_key: name, api_format, base_url: `${vendor.origin}${base}`, api_key: "vendor-secret-0001" };
    await admin.post("/v1/admin/providers", { ...tenant, ...provider });
    models.push((await admin.post("/v1/admin/llms", { ...tenant, name, model_name: name, provider: name, modes, enabled: true })).id);
  }
  const judges = { provider_key: "judges", api_format: "openai", base_url: judge.baseUrl, api_key: "sk-judge-secret-0000001" };
  await admin.post("/v1/admin/providers", { ...tenant, ...judges });
  const { id: judge_model_id } = await admin.post("/v1/admin/llms", { ...tenant, name: "judge-1", provider: "judges", mode: "chat" });
  for (const name of ["redact", "block", "policy", "judged", "capped", "plain"]) {
    const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name, group_type: "team" });
    await admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: models });
    const of = { ...tenant, name, group_ids: [group.id] };
    if (name === "policy") {
      const rules = [{ deny_if: "ddl", message: "No." }];
      await admin.post("/v1/admin/argument-policies", { ...of, target: "run_sql", argument_key: "query", analyzer: "sql", rules });
    } else if (name === "capped") {
      const governance = { tool_use: { max_tool_calls_per_day: 1 } };
      await admin.request("PATCH", `/v1/admin/resource-groups/${group.id}/llm-global-governance`, { governance });
    } else if (name === "judged") {
      const rule = { constraint_text: `Nothing may speak of ${BANNED}s.`, surfaces: ["chat_output"], action: "block", mode: "enforce" };
      const policy = { ...tenant, name, ...rule, judge_model_id, resource_group_ids: [group.id] };
      await admin.post("/v1/admin/semantic-policies", policy);
    } else if (name !== "plain")
      await admin.post("/v1/admin/guardrails/configs", { ...of, builtin: { banned_words: [BANNED], banned_words_action: name } });
    keys[name] = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
  }
});

afterAll(async () => {
  await world.end();
  await judge.stop();
  await vendor.stop();
});

async function ask(key: string, { format, framing }: AnswerSurface, stream: boolean, text: string, status = 200) {
  answer = () =>
    new Response(text, { status, headers: { "content-type": stream && framing === "events" ? "text/event-stream" : "application/json" } });
  const [model, path, body] = ASKED[format];
  const verb = stream ? `streamGenerateContent${framing === "events" ? "?alt=sse" : ""}` : "generateContent";
  const response = await fetch(`${world.gateway.runtimeUrl}${format === "gemini" ? `/v1beta/models/${model}:${verb}` : path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keys[key]}`, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ ...(format === "gemini" ? {} : { model, stream }), ...body }),
  });
  const given = await response.text();
  const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") as string });
  return { given, read: unescaped(given), row };
}

const unescaped = (text: string) =>
  text.replaceAll(/\\u([0-9a-f]{4})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
const wireOf = (surface: AnswerSurface, pieces: readonly string[], call?: typeof DENIED) =>
  surface.frames(pieces, call).map((frame) => new TextDecoder().decode(frame));
/** Replaces every member with this text by what `said` returns. */
const resaid = (json: string, text: string, said: (name: string, own: string) => string) =>
  json.replaceAll(new RegExp(`"([a-z_]+)":(${RegExp.escape(JSON.stringify(text))})`, "g"), (own: string, name: string) => said(name, own));
const upper = (name: string) => (name[0] as string).toUpperCase() + name.slice(1);

const WAYS: Readonly<Record<string, (name: string, own: string) => string>> = {
  "duplicate member before the real one": (name, own) => `"${name}":"${ESCAPED}",${own}`,
  "duplicate member before one with an escaped name": (name, own) => `"${name}":"${ESCAPED}", ${own.replace(/^"./, escapedLetter)}`,
  "member whose name differs in case": (name, own) => `${own},"${upper(name)}":"${ESCAPED}"`,
};
const escapedLetter = (letter: string) => `"\\u${letter.charCodeAt(1).toString(16).padStart(4, "0")}`;

describe.each(ANSWER_SURFACES.map((surface) => [surface.name, surface] as const))("a response of %s", (_name, surface) => {
  test.each(Object.entries(WAYS))("cannot bypass a guardrail with a %s", async (_way, said) => {
    for (const stream of [false, true])
      for (const key of ["redact", "block", "judged"]) {
        const json = stream ? wireOf(surface, [FINE]).join("") : JSON.stringify(surface.whole(FINE));
        const text = resaid(json, FINE, said);
        expect(text).not.toBe(json);
        const { read, given } = await ask(key, surface, stream, text);
        expect(read).not.toContain(BANNED);
        if (key === "redact") expect(given).toContain("All is well");
        // Without a guardrail the answer passes unchanged.
        expect((await ask("plain", surface, stream, text)).given).toContain(ESCAPED);
      }
  });

  test("cannot bypass a guardrail with pieces of text in members whose names differ in case", async () => {
    const json = wireOf(surface, ["sword", "fish", FINE]).join("");
    const text = resaid(json, "fish", (name) => `"${upper(name)}":"fish"`);
    for (const key of ["redact", "block"]) expect((await ask(key, surface, true, text)).given).not.toMatch(/"(?:Content|Text|Delta)"/);
  });

  test("cannot bypass a guardrail with text that only some parsers accept as JSON", async () => {
    const frames = wireOf(surface, ["a", FINE]);
    const [at, frame] = [...frames.entries()].find(([, one]) => one.includes('"a"')) as [number, string];
    const odd = frame.replaceAll('"a"', `"${ESCAPED}"`).replace("{", '{"n":NaN,');
    const text = [...frames.slice(0, at), odd, ...frames.slice(at)].join("");
    for (const key of ["redact", "block"]) expect((await ask(key, surface, true, text)).read).not.toContain(BANNED);
  });
});

const CALLING = ANSWER_SURFACES.filter(({ name }) => name !== "completions");

describe.each(CALLING.map((surface) => [surface.name, surface] as const))("a tool call of %s", (_name, surface) => {
  const answers = (change: (json: string) => string) =>
    [false, true].map((stream) => {
      const json = stream ? wireOf(surface, [], DENIED).join("") : JSON.stringify(surface.whole("", DENIED));
      expect(change(json)).not.toBe(json);
      return [stream, change(json)] as const;
    });

  test("cannot bypass an argument policy with a second name of the tool", async () => {
    for (const second of ['"name":"fine"', '"Name":"run_sql"'])
      for (const [stream, text] of answers((json) =>
        second.startsWith('"name"')
          ? json.replaceAll('"name":"run_sql"', `"name":"run_sql",${second}`)
          : json.replaceAll('"name":"run_sql"', `"name":"fine",${second}`),
      ))
        expect((await ask("policy", surface, stream, text)).given).not.toContain("run_sql");
  });

  test("cannot bypass an argument policy with escaped characters in member names", async () => {
    for (const [stream, text] of answers(hidden)) {
      const { read, row } = await ask("policy", surface, stream, text);
      expect(read).not.toContain("DROP");
      expect(row.argument_policy_id).not.toBeNull();
    }
  });

  test("cannot bypass the daily limit on tool calls with escaped characters", async () => {
    const chat = CALLING[0] as AnswerSurface;
    // The first call uses up the cap.
    await ask("capped", chat, false, JSON.stringify(chat.whole("", DENIED)));
    for (const [stream, text] of answers(hidden)) expect((await ask("capped", surface, stream, text)).read).not.toContain("DROP");
  });
});

/** The same JSON with everything that indicates a tool call escaped, so that only a JSON parser sees it. */
function hidden(json: string): string {
  return json
    .replaceAll(/"(?=[a-zA-Z_]*(?:call|Call|tool|partial_json))([a-zA-Z_]+)":/g, (_, name: string) => `${escapedName(name)}:`)
    .replaceAll(/"(type|finish_reason|stop_reason)":"([a-z_.]+)"/g, (_, name: string, value: string) => `"${name}":${escapedName(value)}`)
    .replaceAll(/^event: .*\n/gm, "")
    .replaceAll('"call_1"', '"c1"')
    .replaceAll('"toolu_1"', '"t1"');
}

const escapedName = (name: string) =>
  `"${Array.from(name, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`;

test.each([201, 206])("a semantic policy judges a response with status %d", async (status) => {
  const [surface] = ANSWER_SURFACES as readonly [AnswerSurface];
  const { given, row } = await ask("judged", surface, false, JSON.stringify(surface.whole(BANNED)), status);
  expect([given.includes(BANNED), row.error_type]).toEqual([false, "semantic_policy_block"]);
});

describe("a stream sent as one JSON array", () => {
  const surface = ANSWER_SURFACES.find(({ framing }) => framing === "array") as AnswerSurface;
  const body = JSON.stringify(surface.whole(FINE));
  const evil = body.replace(FINE, ESCAPED);

  test.each([
    ["a number before an element", `[${body},1,${evil}]`],
    ["a text before an element", `["x",${evil},${body}]`],
    ["a second array after it", `[${body}][${evil}]`],
    ["an array within it", `[${body},[${evil}]]`],
    ["an array around its element", `[[${evil}]]`],
    ["an object after its end", `[${body}]${evil}`],
    ["a text before its only element", `["x",${evil}]`],
    ["closing brackets before it", `]]][${evil}]`],
  ])("cannot hide text from guardrails with %s", async (_way, text) => {
    for (const key of ["redact", "block", "judged"]) {
      const { given, read } = await ask(key, surface, true, text);
      expect(read).not.toContain(BANNED);
      expect(Array.isArray(JSON.parse(given)) || JSON.parse(given).error !== undefined).toBe(true);
    }
  });
});

test("text in a comment is not passed to clients that treat other characters as line ends", async () => {
  const [surface] = ANSWER_SURFACES as readonly [AnswerSurface];
  const frames = wireOf(surface, [FINE]);
  const evil = `data: {"choices":[{"index":0,"delta":{"content":"${ESCAPED}"}}]}`;
  for (const odd of ["\u2028", "\u0085", "\v", "\f"])
    for (const text of [`: x${odd}${evil}\n\n${frames.join("")}`, `${frames[0]}id: x${odd}${evil}\n${frames.slice(1).join("")}`]) {
      const { read } = await ask("redact", surface, true, text);
      expect(read).not.toContain(BANNED);
      expect(read).toContain("All is well");
    }
});

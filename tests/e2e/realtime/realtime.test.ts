import { afterAll, beforeAll, expect, test } from "bun:test";
import { RealtimeClient } from "../../support/vendors/realtime-client.ts";
import { realtimeVendor, type RealtimeVendor, type Reply } from "../../support/vendors/realtime-vendor.ts";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";
import { until } from "../../support/until.ts";

/** Sessions with a plain WebSocket client, over a fake of OpenAI's Realtime API. */
let world: World;
let vendor: RealtimeVendor;
let apiKey: string;
let guardedKey: string;
let restoringKey: string;
let reply: (request: any, items: readonly any[]) => Reply = () => ({ text: "Hello there." });

beforeAll(async () => {
  vendor = realtimeVendor((request, items) => reply(request, items));
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const group = async (name: string) => {
    const { id } = await admin.post("/v1/admin/resource-groups", { ...tenant, name, group_type: "team" });
    const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: "k", access_mode: "shared" });
    return { id, key } as { id: string; key: string };
  };
  const plain = await group("plain");
  const guarded = await group("guarded");
  const restoring = await group("restoring");
  [apiKey, guardedKey, restoringKey] = [plain.key, guarded.key, restoring.key];
  await admin.post("/v1/admin/providers", {
    ...tenant,
    ...{ provider_key: "o", api_format: "openai", base_url: `${vendor.origin}/v1`, api_key: "vendor-secret-0001" },
  });
  const prices = {
    input_cost_per_million_tokens: 4,
    output_cost_per_million_tokens: 16,
    cache_read_cost_per_million_tokens: 1,
    audio_output_cost_per_million_tokens: 64,
  };
  const groups = [plain.id, guarded.id, restoring.id];
  await admin.post("/v1/admin/llms", {
    ...tenant,
    name: "voice",
    model_name: "gpt-realtime",
    provider: "o",
    mode: "realtime",
    group_ids: groups,
    ...prices,
  });
  await admin.post("/v1/admin/llms", {
    ...tenant,
    name: "writer",
    model_name: "gpt-5",
    provider: "o",
    mode: "chat",
    group_ids: groups,
    ...prices,
  });
  const builtin = { banned_words: ["titan"], banned_words_action: "block", pii_enabled: true, pii_action: "redact" };
  await admin.post("/v1/admin/guardrails/configs", { ...tenant, name: "words", group_ids: [guarded.id], builtin });
  const restores = { pii_enabled: true, pii_restore: true };
  await admin.post("/v1/admin/guardrails/configs", { ...tenant, name: "restores", group_ids: [restoring.id], builtin: restores });
});
afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function session(key = apiKey): Promise<RealtimeClient> {
  const client = new RealtimeClient(world.gateway.runtimeUrl as string, "voice", bearer(key));
  await client.next("session.created");
  return client;
}

const textOf = (events: readonly any[], type: string) =>
  events
    .filter((event) => event.type === type)
    .map(({ delta }) => delta)
    .join("");
test("text in and text out is one governed call with usage, cost and a row", async () => {
  reply = () => ({ text: "Hello there." });
  const client = await session();
  client.send({ type: "session.update", session: { type: "realtime", instructions: "Speak plainly.", output_modalities: ["text"] } });
  const updated = await client.next("session.updated");
  expect(updated.session.instructions).toBe("Speak plainly.");
  const events = await client.ask("Good morning");
  expect(textOf(events, "response.output_text.delta")).toBe("Hello there.");
  expect(events.at(-1)).toMatchObject({ type: "response.done", response: { status: "completed" } });
  expect(vendor.handshakes.at(-1)).toEqual({ query: "?model=gpt-realtime", authorization: "Bearer vendor-secret-0001" });
  const asked = vendor.seen.at(-1);
  expect(asked).toMatchObject({ type: "response.create", response: { instructions: "Speak plainly." } });
  expect(JSON.stringify(vendor.seen.filter(({ type }) => type === "session.update"))).not.toContain("plainly");
  const row = await rowOf(world.admin, { proxy_subtype: "realtime_response" });
  expect(row).toMatchObject({
    ...{
      success: true,
      llm_model_requested: expect.any(String),
      llm_model_used: "voice",
      llm_prompt_tokens: 100,
      llm_completion_tokens: 50,
    },
    ...{ prompt_cache_read_tokens: 40, llm_streaming: true, http_status_code: 200 },
  });
  // 60 fresh and 40 cached tokens of input, 20 of text and 30 of audio.
  expect(Number(row.llm_estimated_cost_usd)).toBeCloseTo((60 * 4 + 40 * 1 + 20 * 16 + 30 * 64) / 1e6, 9);
  const rows = await rowsOf(world.admin, { llm_model_requested: "voice" }, 1);
  expect(rows.map(({ proxy_subtype, http_method }) => [proxy_subtype, http_method])).toEqual([["realtime_connect", "GET"]]);
  client.close();
});

test("a text that a guardrail blocks never reaches the provider, and the session goes on", async () => {
  reply = () => ({ text: "Fine." });
  const client = await session(guardedKey);
  const [error] = (await client.ask("Tell me about titan")).filter(({ type }) => type === "error");
  expect(error.error).toMatchObject({ code: "guardrail_blocked", guardrail: "words", direction: "input", event_id: "ask" });
  expect(JSON.stringify(vendor.seen)).not.toContain("titan");
  const events = await client.ask("My address is joe@example.com");
  expect(textOf(events, "response.output_text.delta")).toBe("Fine.");
  expect(JSON.stringify(vendor.seen)).not.toContain("joe@example.com");
  expect(JSON.stringify(vendor.seen)).toContain("REDACTED:email");
  expect(await rowOf(world.admin, { guardrail_blocked: true, proxy_subtype: "realtime_response" })).toMatchObject({
    guardrail_check: "banned_words",
  });
  client.close();
});

test("instructions and function results are inspected as part of the response they are for", async () => {
  const client = await session(guardedKey);
  client.send({ type: "session.update", session: { type: "realtime", instructions: "Praise titan." } });
  const [refused] = (await client.ask("Hi")).filter(({ type }) => type === "error");
  expect(refused.error.code).toBe("guardrail_blocked");
  client.send({ type: "session.update", session: { type: "realtime", instructions: "" } });
  client.send({ type: "conversation.item.create", item: { type: "function_call_output", call_id: "c", output: "titan" } });
  const [blocked] = (await client.ask(null)).filter(({ type }) => type === "error");
  expect(blocked.error.code).toBe("guardrail_blocked");
  expect(JSON.stringify(vendor.seen)).not.toContain("titan");
  client.close();
});

test("what the model says is inspected before the client gets it, and audio follows its transcript", async () => {
  const client = await session(guardedKey);
  reply = () => ({ audio: "All is well today." });
  const spoken = await client.ask("Speak");
  expect(textOf(spoken, "response.output_audio_transcript.delta")).toBe("All is well today.");
  const done = spoken.findIndex(({ type }) => type === "response.output_audio_transcript.done");
  const audio = spoken.map(({ type }, at) => ({ type, at })).filter(({ type }) => type === "response.output_audio.delta");
  expect(audio.length).toBe(3);
  expect(audio.every(({ at }) => at > done)).toBe(true);

  reply = () => ({ audio: "The titan project is late." });
  const blocked = await client.ask("Speak again");
  expect(blocked.filter(({ type }) => type === "response.output_audio.delta")).toEqual([]);
  expect(JSON.stringify(blocked)).not.toContain("itan");
  expect(blocked.find(({ type }) => type === "error").error).toMatchObject({ code: "guardrail_blocked", direction: "output" });
  await until(() => vendor.seen.at(-1)?.type === "conversation.item.delete" || null);

  reply = () => ({ audio: "Write to joe@example.com now." });
  const redacted = await client.ask("And again");
  expect(JSON.stringify(redacted)).not.toContain("joe@");
  expect(textOf(redacted, "response.output_audio_transcript.delta")).toContain("REDACTED:email");
  expect(redacted.filter(({ type }) => type === "response.output_audio.delta")).toEqual([]);

  reply = () => ({ audio: null });
  const silent = await client.ask("And without a transcript");
  expect(silent.at(-1).type).toBe("response.done");
  expect(silent.filter(({ type }) => type.includes("audio.delta"))).toEqual([]);
  client.close();
});

test("redacted values are put back for the client, under other numbers in each response", async () => {
  const given: string[] = [];
  const placeholderIn = (items: readonly any[]) => {
    const [found = ""] = /\[EMAIL_\d+\]/.exec(JSON.stringify(items.at(-1))) ?? [];
    given.push(found);
    return found;
  };
  const client = await session(restoringKey);
  reply = (_request, items) => ({ text: `Noted ${placeholderIn(items)}.` });
  expect(textOf(await client.ask("I am joe@example.com"), "response.output_text.delta")).toBe("Noted joe@example.com.");
  reply = (_request, items) => ({ call: { name: "mail", arguments: `{"to":"${placeholderIn(items)}","not":"${given[0]}"}` } });
  const called = await client.ask("I am ann@example.com");
  const { arguments: passed } = called.find(({ type }) => type === "response.function_call_arguments.done");
  expect(JSON.parse(passed)).toEqual({ to: "ann@example.com", not: given[0] });
  reply = (_request, items) => ({ audio: `Hello ${placeholderIn(items)}.` });
  const spoken = await client.ask("I am bob@example.com");
  expect(textOf(spoken, "response.output_audio_transcript.delta")).toBe("Hello bob@example.com.");
  expect(new Set(given).size).toBe(3);
  expect(JSON.stringify(vendor.seen)).not.toMatch(/(?:joe|ann|bob)@example/);
  const rows = await rowsOf(world.admin, { proxy_subtype: "realtime_response", guardrail_action: "redact" }, 3);
  expect(JSON.stringify(rows)).not.toMatch(/(?:joe|ann|bob)@example/);
  client.close();
});

test("the metrics count open sessions", async () => {
  const open = async () => {
    const text = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
    return Number(/^gatehouse_realtime_open_sessions(?:\{.*\})? (\d+)$/m.exec(text)?.[1]);
  };
  await until(async () => (await open()) === 0 || null);
  const client = await session();
  expect(await open()).toBe(1);
  client.close();
  await until(async () => (await open()) === 0 || null);
});

test("generated calls are inspected", async () => {
  const client = await session(guardedKey);
  reply = () => ({ call: { name: "note", arguments: '{"text":"the titan"}' } });
  const tools = [{ type: "function", name: "note", description: "Takes a note", parameters: { type: "object", properties: {} } }];
  const events = await client.ask("Note it", { tools });
  expect(JSON.stringify(events)).not.toContain("the titan");
  expect(events.find(({ type }) => type === "error").error.code).toBe("guardrail_blocked");
  expect(vendor.seen.findLast(({ type }) => type === "response.create").response.tools).toEqual(tools);
  client.close();
});

test("wrong credentials, models and requests are refused before the upgrade", async () => {
  const url = `${world.gateway.runtimeUrl}/v1/proxy/llm/realtime`;
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const asked = async (query: string, headers: Record<string, string>) => {
    const response = await fetch(url + query, { headers });
    return { status: response.status, ...((await response.json()) as { code: string }) };
  };
  expect(await asked("?model=voice", { ...upgrade })).toMatchObject({ status: 401, code: "unauthenticated" });
  expect(await asked("?model=voice", bearer(apiKey))).toMatchObject({ status: 400, code: "invalid_header" });
  expect(await asked("?model=nobody", { ...upgrade, ...bearer(apiKey) })).toMatchObject({ status: 404 });
  expect(await asked("?model=writer", { ...upgrade, ...bearer(apiKey) })).toMatchObject({ status: 400, code: "model_mode_mismatch" });
  expect(await asked("", { ...upgrade, ...bearer(apiKey) })).toMatchObject({ status: 400, code: "invalid_body" });
  expect(await asked("?call_id=x&model=voice", { ...upgrade, ...bearer(apiKey) })).toMatchObject({
    status: 400,
    code: "unsupported_parameter",
  });
});

test.each([
  [401, 502, "upstream_auth_failed"],
  [404, 404, "the handshake was answered with 404"],
  [429, 429, "the handshake was answered with 429"],
])("a provider's %i to the handshake is reported as to any request", async (refusing, status, told) => {
  vendor.refusing = refusing;
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const url = `${world.gateway.runtimeUrl}/v1/proxy/llm/realtime?model=voice`;
  const response = await fetch(url, { headers: { ...headers, ...bearer(apiKey) } });
  vendor.refusing = null;
  expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(told)]);
  expect(await rowOf(world.admin, { proxy_subtype: "realtime_connect", http_status_code: status })).toMatchObject({ success: false });
});

test("a browser's key among the subprotocols admits it and is neither echoed nor recorded", async () => {
  const client = new RealtimeClient(world.gateway.runtimeUrl as string, "voice", {}, ["realtime", `openai-insecure-api-key.${apiKey}`]);
  const created = await client.next("session.created");
  expect(client.protocol).toBe("realtime");
  expect(JSON.stringify(created)).not.toContain(apiKey);
  const row = await rowOf(world.admin, { proxy_subtype: "realtime_connect" });
  expect(JSON.stringify(row)).not.toContain(apiKey.slice(12));
  client.close();
});

test.each([
  ["not JSON", "{", "invalid_event"],
  ["a type twice", '{"type":"response.create","type":"response.cancel"}', "invalid_event"],
  ["a member twice", '{"type":"response.create","response":{"instructions":"a","instructions":"b"}}', "ambiguous_name"],
  ["an unknown type", '{"type":"session.fly"}', "unknown_event"],
  ["audio that is not base64", '{"type":"input_audio_buffer.append","audio":"A A"}', "invalid_event"],
  ["an unknown event of the audio buffer", '{"type":"input_audio_buffer.play"}', "unknown_event"],
  ["a second model", '{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"x"}}}}}', "unsupported_parameter"],
  [
    "a response after silence",
    '{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"server_vad","idle_timeout_ms":5000}}}}}',
    "unsupported_parameter",
  ],
  ["another model", '{"type":"session.update","session":{"model":"gpt-9"}}', "unsupported_parameter"],
  [
    "a tool server",
    '{"type":"session.update","session":{"tools":[{"type":"mcp","server_label":"x","server_url":"https://x"}]}}',
    "unsupported_parameter",
  ],
  ["a beta setting", '{"type":"session.update","session":{"modalities":["text"]}}', "unsupported_parameter"],
  [
    "audio in an item",
    '{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_audio","audio":"AA"}]}}',
    "unsupported_parameter",
  ],
  ["an old item", '{"type":"conversation.item.retrieve","item_id":"item_1"}', "unsupported_event"],
])("%s is refused by an error event, and the session goes on", async (_name, sent, code) => {
  reply = () => ({ text: "Yes." });
  const client = await session();
  const before = vendor.seen.length;
  client.sendRaw(sent);
  expect((await client.next("error")).error.code).toBe(code);
  expect(vendor.seen.length).toBe(before);
  expect((await client.ask("Still there?")).at(-1).type).toBe("response.done");
  client.close();
});

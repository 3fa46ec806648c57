import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { rowOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { STREAM_FRAMES, STREAM_WORDS, USAGE_FRAME } from "../../support/vendors/fake-upstream.ts";
import { type RawAnswer, type RawUpstream, startRawUpstream } from "../../support/vendors/raw-upstream.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Less than the timeout of any load balancer, and more than the gateway lets a client wait for a byte. */
const CLIENT_TIMEOUT_MS = 28_000;
const EVENTS_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

const TENANT = { tenant_id: "default" };

let world: World;
let upstream: RawUpstream;
let served: Served;
/** A key of a group whose tool calls need approval, so its streams are held until they are complete. */
let heldKey: string;
/** The upstream waits for this, which resolves once every client has its response head. */
const waitedFor = Promise.withResolvers<void>();

const after = (text: string) => waitedFor.promise.then(() => Buffer.from(text));
const frames = [...STREAM_FRAMES, USAGE_FRAME, "data: [DONE]\n\n"].join("");
const refused = JSON.stringify({ error: { message: "Slow down, Ann.", type: "requests", param: null, code: "rate_limit_exceeded" } });

const behaviours: Record<string, RawAnswer> = {
  // Answers, thinks, and breaks off.
  torn: { head: EVENTS_HEAD, pieces: [after("")], ending: "tear" },
  // Does not even send a response head.
  mute: { head: null, pieces: [after("")], ending: "tear" },
  speaks: { head: EVENTS_HEAD, pieces: [Buffer.from(frames)], ending: "end" },
  thinks: { head: EVENTS_HEAD, pieces: [after(frames)], ending: "end" },
  begins: { head: EVENTS_HEAD, pieces: [Buffer.from(STREAM_FRAMES.slice(0, 2).join("")), after(frames)], ending: "end" },
  refuses: {
    head: `HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nContent-Length: ${refused.length}\r\nConnection: close\r\n\r\n`,
    pieces: [Buffer.from(refused)],
    ending: "end",
  },
};

beforeAll(async () => {
  world = await startWorld();
  upstream = await startRawUpstream((_path, body) => behaviours[(JSON.parse(body) as { model: string }).model] as RawAnswer);
  const groups = { mends: ["torn", "speaks"], waits: ["mute", "speaks"], thinking: ["thinks", "speaks"], fails: ["torn", "refuses"] };
  for (const id of Object.keys(groups))
    await world.admin.post("/v1/admin/llm-router/routing-groups", {
      ...{ ...TENANT, id, routing_strategy: "ordered", num_retries: 1, retry_after: 0 },
    });
  const members = Object.entries(groups).flatMap(([id, [first, second]]) => [
    { name: `${id}-first`, model_name: first, routing_group_id: id, routing_weight: 2 },
    { name: `${id}-second`, model_name: second, routing_group_id: id, routing_weight: 1 },
  ]);
  served = await serveModels(world.admin, `${upstream.origin}/v1`, [...members, { name: "held", model_name: "begins" }]);
  const { id } = await world.admin.post("/v1/admin/resource-groups", { ...TENANT, name: "held", parent_group_id: served.groupId });
  const governance = { tool_use: { mode: "approval_required" } };
  const bound = await world.admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-governance`, { governance });
  expect(bound.status).toBe(200);
  heldKey = (await world.admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: "held" })).key_value;
});

afterAll(async () => {
  await upstream.stop();
  await world.end();
});

const messages = [{ role: "user" as const, content: "Hi" }];

test("streams of routing groups and held streams send a response head while they wait, then the answer or the error", async () => {
  const { runtimeUrl } = world.gateway;
  const client = { apiKey: served.apiKey, timeout: CLIENT_TIMEOUT_MS, maxRetries: 0 };
  const openai = new OpenAI({ ...client, baseURL: `${runtimeUrl}/v1/proxy/llm` });
  const anthropic = new Anthropic({ ...client, baseURL: runtimeUrl });
  const tools = [{ type: "function" as const, function: { name: "look", parameters: { type: "object" } } }];
  const chat = (model: string) =>
    openai.chat.completions
      .create({ model, messages, stream: true, tools }, model === "held" ? { headers: { authorization: `Bearer ${heldKey}` } } : {})
      .withResponse();
  const claude = (model: string) =>
    anthropic.messages
      .create({ model, max_tokens: 100, messages, stream: true, top_k: 3 } as any, { headers: { "anthropic-version": "2023-06-01" } })
      .withResponse();
  const leaving = new AbortController();
  const leavingCall = fetch(`${runtimeUrl}/v1/proxy/llm/chat/completions`, {
    ...{ method: "POST", signal: leaving.signal, headers: { "x-api-key": served.apiKey, "content-type": "application/json" } },
    body: JSON.stringify({ model: "thinking", messages, stream: true }),
  });
  const begun = await Promise.all([
    ...["mends", "waits", "thinking", "held", "fails"].map(chat),
    claude("mends"),
    claude("fails"),
    openai.responses.create({ model: "fails", input: "Hi", stream: true }).withResponse(),
  ]);
  const left = await leavingCall;
  leaving.abort();
  expect(await rowOf(world.admin, { id: left.headers.get("x-request-id") })).toMatchObject({
    ...{ http_status_code: 200, success: false, error_type: "client_disconnected", llm_model_used: "thinking-first" },
  });
  waitedFor.resolve();
  const said = await Promise.all(
    begun.map(async ({ data }) => {
      let text = "";
      try {
        for await (const event of data as AsyncIterable<any>)
          text += event.choices?.[0]?.delta.content ?? (event.type === "content_block_delta" ? (event.delta.text ?? "") : "");
        return text;
      } catch (error) {
        return error as Error;
      }
    }),
  );
  const whole = STREAM_WORDS.join("");
  expect(said.slice(0, 3)).toEqual([whole, whole, whole]);
  expect(said[3]).toContain(whole);
  expect(said[5]).toBe(whole);
  for (const index of [4, 6, 7]) expect(String(said[index])).toContain("Slow down, Ann.");
  expect(begun.map(({ response }) => [response.status, response.headers.get("x-gw-ai-generated")])).toEqual(begun.map(() => [200, "true"]));
  expect(begun[5]?.response.headers.get("x-gw-dropped-parameters")).toBe("top_k");
  const rows = await Promise.all(begun.map(({ response }) => rowOf(world.admin, { id: response.headers.get("x-request-id") })));
  expect(rows.map((row) => [row.http_status_code, row.success, row.error_type, row.llm_model_used, row.llm_used_fallback])).toEqual([
    [200, true, null, "mends-second", true],
    [200, true, null, "waits-second", true],
    [200, true, null, "thinking-first", false],
    [200, true, null, "held", false],
    [200, false, "upstream_rejected", "fails-second", true],
    [200, true, null, "mends-second", true],
    [200, false, "upstream_rejected", "fails-second", true],
    [200, false, "upstream_rejected", "fails-second", true],
  ]);
});

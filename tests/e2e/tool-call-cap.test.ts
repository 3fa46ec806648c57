import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../support/admin.ts";
import { SURFACES } from "../support/inbound-surfaces.ts";
import { type RawUpstream, startRawUpstream } from "../support/raw-upstream.ts";
import { startWorld, type World } from "../support/world.ts";

/** An answer is held to the tool calls one answer may make, on every surface and over every provider. */

const CAP = 2;
const json = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string; [field: string]: unknown }) => `event: ${value.type}\n${json(value)}`;
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

const chatCall = (i: number) => ({ id: `call_${i}`, type: "function", function: { name: "look", arguments: `{"at":${i}}` } });
const functionCall = (i: number) => ({
  id: `fc_${i}`,
  type: "function_call",
  call_id: `call_${i}`,
  name: "look",
  arguments: `{"at":${i}}`,
  status: "completed",
});
const toolUse = (i: number) => ({ type: "tool_use", id: `toolu_${i}`, name: "look", input: { at: i } });
const usage = { input_tokens: 1, output_tokens: 9 };
const response = (status: string, output: object[]) => ({
  id: "r",
  object: "response",
  created_at: 1,
  model: "m",
  status,
  output,
  usage: { ...usage, total_tokens: 10 },
});
const candidate = (parts: object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
  usageMetadata: { promptTokenCount: 1 },
});

/** An answer of so many calls, as each provider writes it. */
function answerOf(path: string, calls: number): { readonly whole: object; readonly frames: string } {
  if (path.includes("/chat/completions")) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      json({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] });
    const cut = (i: number) => {
      const { id, type, function: called } = chatCall(i);
      const [name, first, rest] = [called.name, called.arguments.slice(0, 1), called.arguments.slice(1)];
      return (
        chunk({ tool_calls: [{ index: i, id, type, function: { name, arguments: first } }] }) +
        chunk({ tool_calls: [{ index: i, function: { arguments: rest } }] })
      );
    };
    const message = { role: "assistant", content: null, tool_calls: times(calls, chatCall) };
    return {
      whole: {
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message, finish_reason: "tool_calls" }],
        usage: { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10 },
      },
      frames: `${chunk({ role: "assistant" })}${times(calls, cut).join("")}${chunk({}, "tool_calls")}data: [DONE]\n\n`,
    };
  }
  if (path.includes("/responses")) {
    let sequence_number = 1;
    const next = (type: string, more: object) => event({ type, sequence_number: sequence_number++, ...more });
    const item = (i: number) =>
      next("response.output_item.added", { output_index: i, item: { ...functionCall(i), arguments: "", status: "in_progress" } }) +
      next("response.function_call_arguments.delta", { output_index: i, item_id: `fc_${i}`, delta: functionCall(i).arguments }) +
      next("response.function_call_arguments.done", {
        output_index: i,
        item_id: `fc_${i}`,
        name: "look",
        arguments: functionCall(i).arguments,
      }) +
      next("response.output_item.done", { output_index: i, item: functionCall(i) });
    const output = times(calls, functionCall);
    return {
      whole: response("completed", output),
      frames:
        next("response.created", { response: response("in_progress", []) }) +
        times(calls, item).join("") +
        next("response.completed", { response: response("completed", output) }),
    };
  }
  if (path.includes("/messages")) {
    const message = { id: "a", type: "message", role: "assistant", model: "m", stop_sequence: null, usage };
    const block = (index: number) =>
      event({ type: "content_block_start", index, content_block: { ...toolUse(index), input: {} } }) +
      event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: `{"at":${index}}` } }) +
      event({ type: "content_block_stop", index });
    return {
      whole: { ...message, content: times(calls, toolUse), stop_reason: "tool_use" },
      frames:
        event({ type: "message_start", message: { ...message, content: [], stop_reason: null } }) +
        times(calls, block).join("") +
        event({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage }) +
        event({ type: "message_stop" }),
    };
  }
  const part = (i: number) => ({ functionCall: { name: "look", args: { at: i } } });
  const frames = [...times(calls, (i) => candidate([part(i)])), candidate([], { finishReason: "STOP" })];
  return {
    whole: candidate(times(calls, part), { finishReason: "STOP" }),
    frames: path.includes("alt=sse") ? frames.map(json).join("") : JSON.stringify(frames),
  };
}

const MODELS = ["openai", "anthropic", "gemini"] as const;
/** Those of legacy completions and of embeddings call no tools. */
const CALLING = SURFACES.filter(({ mode, name }) => mode === "chat" && !name.startsWith("completions"));

let world: World;
let upstream: RawUpstream;
let apiKey: string;

beforeAll(async () => {
  upstream = await startRawUpstream((path, body) => {
    const { whole, frames } = answerOf(path, Number(/make (\d) calls/.exec(body)?.[1]));
    const streamed = path.includes(":stream") || body.includes('"stream":true');
    const type = streamed && !frames.startsWith("[") ? "text/event-stream" : "application/json";
    const text = streamed ? frames : JSON.stringify(whole);
    return { head: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`, pieces: [Buffer.from(text)], ending: "end" };
  });
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "team", group_type: "team" });
  for (const name of MODELS) {
    const base_url = name === "openai" ? `${upstream.origin}/v1` : upstream.origin;
    await admin.post("/v1/admin/providers", { ...tenant, provider_key: name, api_format: name, base_url, api_key: "upstream-secret-0001" });
    const modes = name === "openai" ? ["chat", "responses"] : ["chat"];
    await admin.post("/v1/admin/llms", {
      ...tenant,
      name,
      model_name: `${name}-m`,
      modes,
      provider: name,
      enabled: true,
      group_ids: [group.id],
    });
  }
  const rules = await admin.request("PATCH", `/v1/admin/resource-groups/${group.id}/llm-global-governance`, {
    governance: { tool_use: { max_tool_calls_per_request: CAP } },
  });
  expect(rules.status).toBe(200);
  apiKey = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
});

afterAll(async () => {
  await world.end();
  await upstream.stop();
});

async function ask(
  surface: (typeof SURFACES)[number],
  model: string,
  calls: number,
): Promise<{ status: number; id: string; text: string }> {
  const { path, body } = surface.request(model, `make ${calls} calls`);
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const answer = await fetch(world.gateway.runtimeUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: answer.status, id: answer.headers.get("x-request-id") as string, text: await answer.text() };
}

const callsIn = (text: string) => new Set(text.match(/at\\?"\s*:\s*\d/g)?.map((found) => found.replaceAll(/\D/g, ""))).size;

describe.each(MODELS)("over %s", (model) => {
  test.each(CALLING.map((surface) => [surface.name, surface] as const))(
    "%s: an answer with too many tool calls is refused",
    async (_name, surface) => {
      const allowed = await ask(surface, model, CAP);
      expect([allowed.status, surface.read(allowed.text), callsIn(allowed.text)]).toEqual([200, "answer", CAP]);

      const refused = await ask(surface, model, CAP + 1);
      expect(refused.text).toContain("more than 2 tool calls");
      if (surface.streamed) expect([refused.status, surface.read(refused.text)]).toEqual([200, "error"]);
      else expect([refused.status, surface.isRefusal(JSON.parse(refused.text)), callsIn(refused.text)]).toEqual([403, true, 0]);
      expect(await rowOf(world.admin, { id: refused.id })).toMatchObject({ success: false, error_type: "tool_call_limit_exceeded" });
    },
  );
});

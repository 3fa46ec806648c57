import { describe, expect, test } from "bun:test";
import type { OutboundChanges } from "../../inbound.ts";
import { type ChatRequest, readChatRequest } from "./request.ts";

const UNCHANGED = { defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null };

const encoder = new TextEncoder();
const outboundText = (request: ChatRequest, changes: OutboundChanges) => request.outbound(changes);

function read(text: string) {
  const request = readChatRequest(encoder.encode(text));
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  return request;
}

describe("an outbound chat request", () => {
  test("is sent byte for byte if nothing had to change", () => {
    const text = '{ "messages":[{"role":"user","content":"h\\u00e9"}],  "model":"gpt", "seed": 1e2, "made_up": {"a":[1,2]} }';
    expect(outboundText(read(text), { model: "gpt", ...UNCHANGED })).toBe(text);
  });

  test("has only the model changed", () => {
    const text = '{"model":"fast","messages":[{"role":"user","content":"model"}],"x":0.10}';
    expect(outboundText(read(text), { model: "gpt-x", ...UNCHANGED })).toBe(
      '{"model":"gpt-x","messages":[{"role":"user","content":"model"}],"x":0.10}',
    );
  });

  test("has model_id replaced by the provider's model", () => {
    expect(JSON.parse(outboundText(read('{"model_id":"0b","messages":[{"role":"user"}]}'), { model: "m", ...UNCHANGED }))).toEqual({
      model: "m",
      messages: [{ role: "user" }],
    });
  });

  test("requests usage of a stream, and keeps the caller's other stream options", () => {
    const out = JSON.parse(
      outboundText(read('{"model":"m","stream":true,"stream_options":{"include_obfuscation":false},"messages":[{"role":"user"}]}'), {
        model: "m",
        ...UNCHANGED,
      }),
    );
    expect(out.stream_options).toEqual({ include_obfuscation: false, include_usage: true });
    const asked = '{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user"}]}';
    expect(outboundText(read(asked), { model: "m", ...UNCHANGED })).toBe(asked);
  });

  test("gets the model's defaults only where the caller set nothing", () => {
    const defaults = { model: "m", defaultTemperature: 0.2, defaultMaxTokens: 50, systemPrompt: "Be brief." };
    const filled = JSON.parse(outboundText(read('{"model":"m","messages":[{"role":"user","content":"hi"}]}'), defaults));
    expect(filled).toEqual({
      model: "m",
      temperature: 0.2,
      max_tokens: 50,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
    });
    const own = JSON.parse(
      outboundText(read('{"model":"m","temperature":1,"max_completion_tokens":9,"messages":[{"role":"user","content":"hi"}]}'), defaults),
    );
    expect(own).toMatchObject({ temperature: 1, max_completion_tokens: 9 });
    expect(own.max_tokens).toBeUndefined();
  });
});

describe("an invalid chat request", () => {
  const fieldsOf = (text: string) => {
    const request = readChatRequest(encoder.encode(text));
    return "fields" in request ? request.fields.map(({ field }) => field) : [];
  };
  test.each([
    ["not json", [""]],
    ["[]", [""]],
    ['{"messages":[{"role":"user"}]}', ["model"]],
    ['{"model":"","messages":[{"role":"user"}]}', ["model"]],
    ['{"model":7,"messages":[{"role":"user"}]}', ["model"]],
    ['{"model":"m"}', ["messages"]],
    ['{"model":"m","messages":[]}', ["messages"]],
    ['{"model":"m","messages":["hi",{"content":"x"}]}', ["messages[0]", "messages[1].role"]],
    ['{"model":"m","messages":[{"role":"user"}],"stream":"yes"}', ["stream"]],
    ['{"model":"m","messages":[{"role":"user"}],"temperature":"hot"}', ["temperature"]],
    ['{"model":"m","messages":[{"role":"user"}],"max_tokens":1.5}', ["max_tokens"]],
    ['{"model":"m","messages":[{"role":"user"}],"tools":{}}', ["tools"]],
    ['{"model":"m","model":"n","messages":[{"role":"user"}]}', ["model"]],
    ['{"model":"m","\\u006dodel":"n","messages":[{"role":"user"}]}', ["model"]],
  ])("%s is refused, naming its fields", (text, fields) => {
    expect(fieldsOf(text)).toEqual(fields);
  });
});

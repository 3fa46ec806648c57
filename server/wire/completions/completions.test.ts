import { describe, expect, test } from "bun:test";
import type { ReplyContext } from "../conversation/codec.ts";
import type { ConversationReply } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { cut } from "../openai/arbitrary-cuts.ts";
import { eventsOf } from "../openai/arbitrary-events.ts";
import { fixturesOf } from "../openai/fixture-files.ts";
import { completionsCodec } from "./completions-codec.ts";
import { readCompletionsReply } from "./completions-reply.ts";
import { readCompletionsRequest, type CompletionsRequest } from "./completions-request.ts";
import { CompletionsStream } from "./completions-stream.ts";

const fixtures = fixturesOf(import.meta.url);
const UNCHANGED = { model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null };
const encoder = new TextEncoder();

function read(body: string | object): CompletionsRequest {
  const request = readCompletionsRequest(encoder.encode(typeof body === "string" ? body : JSON.stringify(body)));
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  return request;
}

describe("a completion request", () => {
  test("is sent unchanged except for stream usage, defaults and the system prompt", () => {
    const text = '{ "prompt":"h\\u00e9", "model":"m", "x":1.0 }';
    expect(read(text).outbound(UNCHANGED)).toBe(text);
    expect(JSON.parse(read({ model: "m", prompt: "x", stream: true }).outbound(UNCHANGED)).stream_options).toEqual({ include_usage: true });
    expect(
      JSON.parse(
        read({ model_id: "0b", prompt: "x" }).outbound({ model: "p", defaultTemperature: 0, defaultMaxTokens: 5, systemPrompt: "Rule." }),
      ),
    ).toEqual({ model: "p", prompt: "Rule.\n\nx", temperature: 0, max_tokens: 5 });
  });

  test("has its prompts and suffix as texts, each replaceable", () => {
    const request = read({ model: "m", prompt: ["a", "b"], suffix: "c" });
    request.texts().forEach((slot, i) => slot.replace(`${slot.text}${i}`));
    expect(JSON.parse(request.outbound(UNCHANGED))).toMatchObject({ prompt: ["a0", "b1"], suffix: "c2" });
    expect(request.inputCharacters).toBe(6);
  });

  test("takes instructions before each text prompt, but not before a prompt of tokens", () => {
    const request = read({ model: "m", prompt: ["a", "b"] });
    request.addInstructions(["1"], ["2"]);
    expect(JSON.parse(request.outbound(UNCHANGED)).prompt).toEqual(["1\n2\n\na", "1\n2\n\nb"]);
    const tokens = read({ model: "m", prompt: [1, 2, 3] });
    tokens.addInstructions(["1"], []);
    expect([tokens.opaque, tokens.inputCharacters, JSON.parse(tokens.outbound({ ...UNCHANGED, systemPrompt: "x" })).prompt]).toEqual([
      true,
      12,
      [1, 2, 3],
    ]);
  });

  test.each([
    [{ prompt: "a" }, 1],
    [{ prompt: ["a", "b"], n: 3 }, 6],
    [{ prompt: [1, 2], n: 2, best_of: 4 }, 4],
    [{ prompt: [[1], [2]] }, 2],
  ])("%j gives %d candidates", (body, answers) => {
    expect(read({ model: "m", ...body }).candidates).toBe(answers);
  });

  test.each([
    [{}, "prompt"],
    [{ prompt: [] }, "prompt"],
    [{ prompt: ["a", 1] }, "prompt"],
    [{ prompt: [["a"]] }, "prompt"],
    [{ prompt: "a", max_tokens: "5" }, "max_tokens"],
    [{ prompt: "a", n: 0 }, "n"],
  ] as [object, string][])("%j is refused, naming the field %s", (body, field) => {
    expect(readCompletionsRequest(encoder.encode(JSON.stringify({ model: "m", ...body })))).toMatchObject({ fields: [{ field }] });
  });
});

describe("a completion request translated to another format", () => {
  test("becomes one user turn", () => {
    expect(completionsCodec.readRequest(fixtures.json("request.json"))).toMatchObject({
      dropped: [],
      request: {
        instructions: [],
        turns: [{ role: "user", parts: [{ kind: "text", text: "Once upon" }] }],
        maxOutputTokens: 16,
        temperature: 0.5,
        topP: 1,
        candidates: 2,
        stop: ["\n"],
        endUser: "ada",
        stream: true,
      },
    });
    expect(completionsCodec.readRequest({ prompt: ["one"], echo: false, best_of: 1, logprobs: null, metadata: {} })).toMatchObject({
      dropped: ["metadata"],
      request: { turns: [{ parts: [{ text: "one" }] }] },
    });
  });

  test.each([
    ["prompt", { prompt: ["a", "b"] }],
    ["prompt", { prompt: [1, 2] }],
    ["suffix", { prompt: "a", suffix: "b" }],
    ["echo", { prompt: "a", echo: true }],
    ["best_of", { prompt: "a", best_of: 2 }],
    ["logprobs", { prompt: "a", logprobs: 0 }],
    ["logit_bias", { prompt: "a", logit_bias: { "1": 1 } }],
  ] as [string, JsonObject][])("with an unsupported %s is refused, naming it", (field, body) => {
    const result = completionsCodec.readRequest({ model: "m", ...body });
    expect("unsupported" in result ? result.unsupported.map((problem) => problem.field) : []).toEqual([field]);
  });

  test("cannot be written for a provider", () => {
    expect(completionsCodec.writeRequest({} as never, { name: "m", maxOutputTokens: null })).toMatchObject({
      unsupported: [{ feature: "messages" }],
    });
  });
});

const REPLY: ConversationReply = {
  id: "cmpl-1",
  candidates: [
    {
      index: 0,
      parts: [
        { kind: "reasoning", text: "hidden", redacted: false },
        { kind: "text", text: " a time" },
      ],
      stop: "length",
      stopSequence: null,
      stopDetail: null,
    },
    { index: 1, parts: [{ kind: "text", text: " midnight" }], stop: "stop_sequence", stopSequence: "\n", stopDetail: null },
  ],
  usage: { inputUncached: 2, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 4, reasoning: 0, estimated: false },
};
const CONTEXT: ReplyContext = { callId: "k", model: "gpt-3.5-turbo-instruct", created: 1700000000, request: {}, includeUsage: true };

describe("an answer written as a completion", () => {
  test("as a complete response: equals the vendor's", () => {
    expect(fixtures.json("reply.json")).toMatchObject(completionsCodec.writeReply(REPLY, CONTEXT) as object);
  });

  test("as a stream: has the same texts, finish reasons and usage as the vendor's", () => {
    const writer = completionsCodec.streamWriter(CONTEXT);
    const wire =
      eventsOf(REPLY, 4)
        .map((event) => writer.write(event))
        .join("") + writer.close();
    const told = (stream: string) => {
      const texts: Record<number, string> = {};
      const reasons: Record<number, string> = {};
      let usage: unknown = null;
      for (const frame of stream.split("\n\n").filter((text) => text.startsWith("data: {"))) {
        const chunk = JSON.parse(frame.slice(6));
        usage = chunk.usage ?? usage;
        for (const { index, text, finish_reason } of chunk.choices) {
          texts[index] = (texts[index] ?? "") + text;
          if (finish_reason !== null) reasons[index] = finish_reason;
        }
      }
      return { texts, reasons, usage, done: stream.endsWith("data: [DONE]\n\n") };
    };
    expect(told(wire)).toEqual(told(fixtures.text("stream.sse")));
    expect(told(wire)).toMatchObject({ texts: { 0: " a time", 1: " midnight" }, done: true });
  });
});

describe("a completion passed through", () => {
  test("as a stream: keeps every byte except unrequested usage, and holds the end back", () => {
    const wire = fixtures.text("stream.sse");
    for (const size of [1, 20, 100_000]) {
      const stream = new CompletionsStream({ hideUsage: true });
      const decoder = new TextDecoder();
      let out = "";
      for (const piece of cut(wire, [size])) out += decoder.decode(stream.push(piece) ?? new Uint8Array(), { stream: true });
      const { complete, last } = stream.end();
      const usageAt = wire.lastIndexOf("data: {");
      expect([out, new TextDecoder().decode(last ?? new Uint8Array()), complete]).toEqual([
        wire.slice(0, usageAt),
        "data: [DONE]\n\n",
        true,
      ]);
      expect(stream).toMatchObject({ begun: true, outputLength: 16, usage: { output: 4 } });
    }
  });

  test("as a complete response: usage and length are read", () => {
    expect(readCompletionsReply(encoder.encode(fixtures.text("reply.json")))).toMatchObject({
      usage: { inputUncached: 2, output: 4 },
      outputCharacters: 16,
    });
    expect(readCompletionsReply(encoder.encode("no"))).toBeNull();
  });
});

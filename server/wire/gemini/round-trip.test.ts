import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import type { ReplyContext } from "../conversation/codec.ts";
import type { ConversationRequest, ToolChoice, Turn } from "../conversation/request.ts";
import type { AssistantPart, TextPart, UserPart } from "../conversation/conversation-parts.ts";
import { isObject } from "../../kernel/json-value.ts";
import { geminiCodec } from "./gemini-codec.ts";
import { readGeminiReply } from "./gemini-reply.ts";
import { readGeminiRequest } from "./gemini-request.ts";
import { GeminiArrayStream, GeminiStream } from "./gemini-stream.ts";

const CONTEXT: ReplyContext = {
  callId: "c",
  model: "m",
  created: 0,
  request: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
  includeUsage: true,
};

const words = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
const name = fc.stringMatching(/^[a-z_][a-z0-9_-]{0,10}$/);
const base64 = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString("base64"));
const signature = base64.map((value) => ({ family: "gemini" as const, value }));
const args = fc.dictionary(name, fc.oneof(words, fc.integer(), fc.boolean()), { maxKeys: 3 }).map((value) => JSON.stringify(value));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const text = words.map((each): TextPart => ({ kind: "text", text: each }));
const userPart: fc.Arbitrary<UserPart> = fc.oneof(
  text,
  base64.map((each): UserPart => ({ kind: "image", source: { base64: each }, mediaType: "image/png" })),
  base64.map((each): UserPart => ({ kind: "file", source: { base64: each }, mediaType: "application/pdf", name: null })),
  base64.map((each): UserPart => ({ kind: "audio", base64: each, mediaType: "audio/wav" })),
);
const signed = <T extends AssistantPart>(part: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.tuple(part, maybe(signature)).map(([each, sign]) => (sign === null ? each : { ...each, signature: sign }));
const spoken: fc.Arbitrary<AssistantPart> = fc.oneof(
  signed(text),
  signature.map((each): AssistantPart => ({ kind: "text", text: "", signature: each })),
  signed(words.map((each) => ({ kind: "reasoning" as const, text: each, redacted: false }))),
);

/** A question, an answer, and tool calls with their results. */
const exchange = fc.tuple(
  fc.array(userPart, { minLength: 1, maxLength: 3 }),
  fc.array(spoken, { maxLength: 2 }),
  fc.array(fc.record({ name, args, sign: maybe(signature), result: words, failed: fc.boolean() }), { maxLength: 3 }),
);

const turns = fc.array(exchange, { minLength: 1, maxLength: 3 }).map((exchanges) =>
  exchanges.flatMap(([asked, said, calls], i): Turn[] => {
    const id = (j: number) => `c${i}_${j}`;
    const answer: AssistantPart[] = [
      ...said,
      ...calls.map((call, j): AssistantPart => ({
        kind: "tool_call",
        id: id(j),
        name: call.name,
        arguments: call.args,
        ...(call.sign && { signature: call.sign }),
      })),
    ];
    const results = calls.map((call, j): UserPart => ({
      kind: "tool_result",
      callId: id(j),
      toolName: call.name,
      content: [{ kind: "text", text: call.result }],
      isError: call.failed,
    }));
    const list: Turn[] = [{ role: "user", parts: asked }];
    if (answer.length > 0) list.push({ role: "assistant", parts: answer });
    if (results.length > 0) list.push({ role: "user", parts: results });
    return list;
  }),
);

const choice: fc.Arbitrary<ToolChoice> = fc.oneof(
  fc.constantFrom<ToolChoice>({ kind: "auto" }, { kind: "none" }, { kind: "required" }),
  name.map((each): ToolChoice => ({ kind: "tool", name: each })),
  fc.tuple(name, name).map(([a, b]): ToolChoice => ({ kind: "subset", names: [a, b], required: true })),
  name.map((each): ToolChoice => ({ kind: "subset", names: [each], required: false })),
);
const tools = fc.array(
  fc.record({ name, description: maybe(words), schema: maybe(fc.constant({ type: "object", properties: {} })), strict: fc.constant(null) }),
  { minLength: 1, maxLength: 3 },
);

const conversation: fc.Arbitrary<ConversationRequest> = fc
  .record({
    instructions: fc.array(text, { maxLength: 2 }),
    turns,
    calling: maybe(fc.record({ tools, toolChoice: maybe(choice) })),
    maxOutputTokens: maybe(fc.integer({ min: 1 })),
    temperature: maybe(fc.constantFrom(0, 0.5, 2)),
    topP: maybe(fc.constantFrom(0.1, 1)),
    topK: maybe(fc.nat(100)),
    stop: fc.array(words, { maxLength: 5 }),
    seed: maybe(fc.integer()),
    candidates: maybe(fc.integer({ min: 1, max: 8 })),
    reasoning: maybe(
      fc.record({
        effort: maybe(fc.constantFrom("low" as const, "medium" as const, "high" as const)),
        budgetTokens: fc.constant(null),
        visible: maybe(fc.boolean()),
      }),
    ),
  })
  .map(({ calling, ...rest }) => ({
    ...rest,
    tools: calling?.tools ?? [],
    toolChoice: calling?.toolChoice ?? null,
    parallelToolCalls: null,
    presencePenalty: null,
    frequencyPenalty: null,
    logprobs: null,
    output: null,
    endUser: null,
    stream: false,
  }));

describe("what is written in Gemini's format is read back unchanged", () => {
  test("for requests", () => {
    fc.assert(
      fc.property(conversation, fc.constantFrom("gemini-2.5-flash", "gemini-3-flash"), (value, model) => {
        const sent = model === "gemini-2.5-flash" ? { ...value, reasoning: null } : value;
        const written = geminiCodec.writeRequest(sent, { name: model, maxOutputTokens: null });
        if ("unsupported" in written) throw new Error(JSON.stringify(written.unsupported));
        expect(written.dropped).toEqual([]);
        expect(readGeminiRequest(Buffer.from(JSON.stringify(written.body)), { model, stream: false })).not.toHaveProperty("fields");
        const read = geminiCodec.readRequest(JSON.parse(JSON.stringify(written.body)));
        const back = "request" in read ? withoutPlaceholders(read.request) : read;
        expect(back).toEqual(withoutPlaceholders(sent));
      }),
      { numRuns: 200 },
    );
  });

  test("for answers, complete and streamed", () => {
    const unsigned: fc.Arbitrary<AssistantPart> = fc.oneof(
      fc.record({ kind: fc.constant("tool_call" as const), id: fc.uuid(), name, arguments: args }),
      text,
      words.map((each): AssistantPart => ({ kind: "reasoning", text: each, redacted: false })),
    );
    // Adjacent parts of one kind would be merged.
    const parts = fc
      .array(unsigned, { minLength: 1, maxLength: 5 })
      .map((list) => list.filter((part, i) => part.kind === "tool_call" || part.kind !== list[i - 1]?.kind));
    const stop = fc.constantFrom(["end", null], ["length", null], ["filtered", "SAFETY: no"], ["filtered", "RECITATION"], [
      "malformed",
      "UNEXPECTED_TOOL_CALL",
    ] as const);
    const usage = fc.record({
      inputUncached: fc.nat(999),
      cacheRead: fc.nat(999),
      cacheWrite: fc.constant(0),
      cacheWriteHour: fc.constant(0),
      output: fc.integer({ min: 50, max: 999 }),
      reasoning: fc.nat(50),
      estimated: fc.constant(false),
    });
    fc.assert(
      fc.property(parts, stop, usage, (list, [reason, stopDetail], told) => {
        const calls = list.some(({ kind }) => kind === "tool_call");
        const reply = {
          id: "r",
          usage: told,
          candidates: [
            {
              index: 0,
              parts: list,
              stop: reason === "end" && calls ? ("tool_call" as const) : (reason as "end"),
              stopSequence: null,
              stopDetail,
            },
          ],
        };
        const whole = geminiCodec.writeReply(reply, CONTEXT);
        expect(geminiCodec.readReply(JSON.parse(JSON.stringify(whole)))).toEqual(reply);
        const writer = geminiCodec.streamWriter(CONTEXT);
        const reader = geminiCodec.streamReader();
        const again = geminiCodec.streamWriter(CONTEXT);
        let sent = "";
        for (const [part, each] of list.entries()) {
          const at = { candidate: 0, part };
          sent += writer.write(
            each.kind === "tool_call"
              ? { kind: "part_start", ...at, type: each.kind, id: each.id, name: each.name }
              : { kind: "part_start", ...at, type: each.kind },
          );
          for (const piece of (each.kind === "tool_call" ? each.arguments : each.text).match(/[\s\S]{1,4}/gu) ?? [])
            sent += writer.write({ kind: "delta", ...at, text: piece });
          sent += writer.write({ kind: "part_end", ...at });
        }
        sent += writer.write({ kind: "stop", candidate: 0, reason: reply.candidates[0]!.stop, stopSequence: null, stopDetail });
        sent += writer.write({ kind: "usage", usage: told }) + writer.close();
        let echoed = "";
        for (const event of [...reader.push(Buffer.from(sent)), ...reader.end().events]) echoed += again.write(event);
        echoed += again.close();
        expect(echoed.replaceAll('"responseId":"c"', "")).toBe(sent.replaceAll('"responseId":"c"', ""));
      }),
      { numRuns: 150 },
    );
  });
});

/** Google's placeholder for missing signatures is removed. */
function withoutPlaceholders(value: ConversationRequest): ConversationRequest {
  return JSON.parse(
    JSON.stringify(value, (key, each) => (key === "signature" && each.value === "skip_thought_signature_validator" ? undefined : each)),
  );
}

describe("invalid Gemini input", () => {
  const files = readdirSync(new URL("fixtures/", import.meta.url));
  const mutation = fc.array(fc.tuple(fc.nat(6000), fc.constantFrom(...'{}[]",:0nt\\\r\n '), fc.nat(2)), { minLength: 1, maxLength: 6 });

  test.each(files)("%s: never throws when damaged", (file) => {
    const source = readFileSync(new URL(`fixtures/${file}`, import.meta.url), "latin1");
    fc.assert(
      fc.property(mutation, (changes) => {
        let damaged = source;
        for (const [at, character, removed] of changes) {
          const place = at % (damaged.length + 1);
          damaged = damaged.slice(0, place) + character + damaged.slice(place + removed);
        }
        survive(Buffer.from(damaged, "latin1"));
      }),
      { numRuns: 60 },
    );
  });

  test("never throws for members of the wrong type", () => {
    const bodies = files
      .filter((file) => file.endsWith(".json") && !file.startsWith("stream"))
      .map((file) => JSON.parse(readFileSync(new URL(`fixtures/${file}`, import.meta.url), "utf8")));
    fc.assert(
      fc.property(fc.constantFrom(...bodies), fc.nat(80), fc.jsonValue({ maxDepth: 2 }), (body, place, value) => {
        let seen = 0;
        survive(Buffer.from(JSON.stringify(body, (_, each) => (++seen === place + 2 ? value : each)) ?? "null"));
      }),
      { numRuns: 600 },
    );
  });

  function survive(bytes: Buffer): void {
    readGeminiReply(bytes);
    const request = readGeminiRequest(bytes, { model: "m", stream: false });
    if (!("fields" in request)) {
      for (const slot of request.texts()) slot.replace(slot.kind === "text" ? "x" : "{}");
      request.removeTools(new Set(request.tools));
      request.addInstructions(["a"], ["b"]);
      JSON.parse(request.outbound({ model: "m", defaultTemperature: 1, defaultMaxTokens: 1, systemPrompt: "s" }));
    }
    for (const codec of [new GeminiStream(), new GeminiArrayStream()]) {
      codec.push(bytes);
      codec.end();
      expect(codec.outputLength).toBeGreaterThanOrEqual(0);
    }
    const reader = geminiCodec.streamReader();
    const writer = geminiCodec.streamWriter(CONTEXT);
    for (const event of [...reader.push(bytes), ...reader.end().events]) writer.write(event);
    let body: unknown;
    try {
      body = JSON.parse(bytes.toString());
    } catch {
      body = null;
    }
    geminiCodec.readFault(500, isObject(body) ? body : null);
    if (!isObject(body)) return;
    const reply = geminiCodec.readReply(body);
    if (reply !== null) geminiCodec.writeReply(reply, CONTEXT);
    const read = geminiCodec.readRequest(body);
    if ("request" in read) geminiCodec.writeRequest(read.request, { name: "gemini-3-flash", maxOutputTokens: null });
  }
});

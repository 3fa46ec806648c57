import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { ambiguousName } from "../json/ambiguous-name.ts";
import type { ConversationRequest, Turn } from "../conversation/request.ts";
import type { AssistantPart, TextPart, ToolResultPart, UserPart } from "../conversation/conversation-parts.ts";
import { isObject } from "../../kernel/json-value.ts";
import { messagesCodec } from "./messages-codec.ts";
import { readMessagesReply } from "./messages-reply.ts";
import { readMessagesRequest } from "./messages-request.ts";
import { MessagesStream } from "./messages-stream.ts";

const word = fc.stringMatching(/^[a-zé漢]{1,8}$/);
const optional = <T extends object>(value: fc.Arbitrary<T>) => fc.oneof(fc.constant({}), value);
const cache = optional(fc.constantFrom({ cache: { ttl: "5m" as const } }, { cache: { ttl: "1h" as const } }));
/** A body with names that differ only in case would be refused. */
const json = fc.jsonValue({ maxDepth: 1 }).filter((value) => ambiguousName(value) === null);
const text: fc.Arbitrary<TextPart> = fc.tuple(word, cache).map(([words, hint]) => ({ kind: "text", text: words, ...hint }));
const plainText: fc.Arbitrary<TextPart> = word.map((words) => ({ kind: "text", text: words }));
const media: fc.Arbitrary<UserPart> = fc.oneof(
  word.map((data): UserPart => ({ kind: "image", source: { base64: data }, mediaType: "image/webp" })),
  word.map((path): UserPart => ({ kind: "image", source: { url: `https://x.example/${path}` }, mediaType: null })),
  fc
    .tuple(word, fc.option(word))
    .map(([data, name]): UserPart => ({ kind: "file", source: { base64: data }, mediaType: "application/pdf", name })),
  fc
    .tuple(word, fc.option(word))
    .map(([data, name]): UserPart => ({ kind: "file", source: { text: data }, mediaType: "text/plain", name })),
);
const reasoning: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc
    .tuple(word, word)
    .map(([words, value]): AssistantPart => ({
      kind: "reasoning",
      text: words,
      redacted: false,
      signature: { family: "anthropic", value },
    })),
  word.map((value): AssistantPart => ({ kind: "reasoning", text: "", redacted: true, signature: { family: "anthropic", value } })),
);

/** One round of a conversation by the vendor's rules: a question, calls, and their results before further text. */
const round = (index: number) =>
  fc
    .record({
      asked: fc.array(fc.oneof(text, media), { minLength: 1, maxLength: 3 }),
      system: optional(plainText),
      thought: fc.array(reasoning, { maxLength: 1 }),
      answer: text,
      calls: fc.array(fc.tuple(word, json, plainText, fc.boolean()), { maxLength: 3 }),
    })
    .map(({ asked, system, thought, answer, calls }) => {
      const turns: Turn[] = [{ role: "user", parts: asked }];
      if ("text" in system) turns.push({ role: "system", parts: [system] });
      const called = calls.map(([name, input], i): AssistantPart => ({
        kind: "tool_call",
        id: `c${index}_${i}`,
        name: `t_${name.length}`,
        arguments: JSON.stringify({ input }),
      }));
      turns.push({ role: "assistant", parts: [...thought, answer, ...called] });
      const results = calls.map(([, , content, isError], i): ToolResultPart => ({
        kind: "tool_result",
        callId: `c${index}_${i}`,
        toolName: null,
        content: [content],
        isError,
      }));
      return { turns, results };
    });

const conversation = fc.tuple(round(0), round(1), plainText).map(([first, second, last]) => {
  const [asked, ...rest] = second.turns;
  return [
    ...first.turns,
    { role: "user", parts: [...first.results, ...asked!.parts] },
    ...rest,
    { role: "user", parts: [...second.results, last] },
  ] as Turn[];
});

const request: fc.Arbitrary<ConversationRequest> = fc.record({
  instructions: fc.array(plainText, { maxLength: 2 }),
  turns: conversation,
  tools: fc.uniqueArray(
    fc.record({
      name: fc.stringMatching(/^[a-z_]{1,8}$/),
      description: fc.option(word),
      schema: fc.constant({ type: "object", properties: {} }),
      strict: fc.option(fc.boolean()),
    }),
    { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
  ),
  toolChoice: fc.constantFrom(
    null,
    { kind: "none" as const },
    { kind: "auto" as const },
    { kind: "required" as const },
    { kind: "tool" as const, name: "t" },
  ),
  parallelToolCalls: fc.constant(null),
  maxOutputTokens: fc.integer({ min: 2000, max: 9000 }),
  temperature: fc.option(fc.constantFrom(0, 0.5, 1)),
  topP: fc.option(fc.constant(0.9)),
  topK: fc.option(fc.constant(40)),
  stop: fc.array(word, { maxLength: 2 }),
  seed: fc.constant(null),
  presencePenalty: fc.constant(null),
  frequencyPenalty: fc.constant(null),
  candidates: fc.constant(null),
  logprobs: fc.constant(null),
  output: fc.constant(null),
  reasoning: fc.constantFrom(
    null,
    { effort: "none" as const, budgetTokens: 0, visible: null },
    { effort: "high" as const, budgetTokens: null, visible: true },
    { effort: null, budgetTokens: -1, visible: false },
    { effort: "max" as const, budgetTokens: 1500, visible: true },
  ),
  endUser: fc.option(word),
  stream: fc.boolean(),
});

/** The vendor accepts four cache marks in total; the removal of others is tested elsewhere. */
function withFewMarks(value: ConversationRequest): ConversationRequest {
  let marks = 0;
  const turns = value.turns.map((turn) => ({
    ...turn,
    parts: (turn.parts as TextPart[]).map((part) =>
      part.cache !== undefined && ++marks > 4 ? Object.fromEntries(Object.entries(part).filter(([name]) => name !== "cache")) : part,
    ),
  }));
  return { ...value, turns: turns as never };
}

test("a request written in the Messages format is read back unchanged", () => {
  fc.assert(
    fc.property(request.map(withFewMarks), (value) => {
      const written = messagesCodec.writeRequest(value, { name: "m", maxOutputTokens: null });
      if ("unsupported" in written) throw new Error(JSON.stringify(written.unsupported));
      expect(written.dropped).toEqual([]);
      expect(messagesCodec.readRequest(JSON.parse(JSON.stringify(written.body)))).toEqual({ request: value, dropped: [] });
      expect(readMessagesRequest(new TextEncoder().encode(JSON.stringify(written.body)), { maxTokensRequired: true })).not.toHaveProperty(
        "fields",
      );
    }),
    { numRuns: 200 },
  );
});

const FIXTURES = readdirSync(new URL("fixtures/", import.meta.url)).map(
  (name) => new Uint8Array(readFileSync(new URL(`fixtures/${name}`, import.meta.url))),
);
const TOKENS = ["null", "7", "[]", "{}", '""', "true", '"x"', "[null]", '{"type":7}'];

test("invalid input in the Messages format never throws", () => {
  const broken = fc
    .tuple(fc.constantFrom(...FIXTURES), fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 5 }))
    .map(([fixture, changes]) => {
      const bytes = fixture.slice();
      for (const [at, value] of changes) bytes[at % bytes.length] = value;
      return bytes;
    });
  /** Replaces values of the fixture with ones of other types, keeping valid JSON. */
  const mistyped = fc
    .tuple(fc.constantFrom(...FIXTURES), fc.array(fc.tuple(fc.nat(), fc.constantFrom(...TOKENS)), { minLength: 1, maxLength: 4 }))
    .map(([fixture, changes]) => {
      let source = new TextDecoder().decode(fixture);
      for (const [nth, token] of changes) {
        const places = [...source.matchAll(/:\s*("(?:[^"\\]|\\.)*"|\d+|null|true|false|\[|\{)/g)].filter(
          (match) => !"[{".includes(match[1]!),
        );
        const place = places[nth % Math.max(1, places.length)];
        if (place !== undefined) source = `${source.slice(0, place.index)}:${token}${source.slice(place.index + place[0].length)}`;
      }
      return new TextEncoder().encode(source);
    });
  fc.assert(
    fc.property(fc.oneof(broken, mistyped), (bytes) => {
      const read = readMessagesRequest(bytes, { maxTokensRequired: true, version: "2026-10-21" });
      if (!("fields" in read)) {
        read.texts();
        read.removeTools(new Set(["get_weather"]));
        read.addInstructions(["a"], ["b"]);
        JSON.parse(read.outbound({ model: "m", defaultTemperature: 1, defaultMaxTokens: 1, systemPrompt: "s" }));
        const neutral = messagesCodec.readRequest(read.body);
        if ("request" in neutral) messagesCodec.writeRequest(neutral.request, { name: "m", maxOutputTokens: null });
      }
      readMessagesReply(bytes);
      const context = { callId: "1", model: "m", created: 1, request: {}, includeUsage: false };
      try {
        const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
        if (isObject(value)) {
          messagesCodec.readRequest(value);
          messagesCodec.readFault(400, value);
          const reply = messagesCodec.readReply(value);
          if (reply !== null) messagesCodec.writeReply(reply, context);
        }
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
      const writer = messagesCodec.streamWriter(context);
      const reader = messagesCodec.streamReader();
      for (const event of [...reader.push(bytes), ...reader.end().events]) writer.write(event);
      writer.close();
      const passing = new MessagesStream();
      passing.push(bytes);
      passing.end();
    }),
    { numRuns: 1500 },
  );
});

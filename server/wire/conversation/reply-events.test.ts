import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { completionsCodec } from "../completions/completions-codec.ts";
import { GeminiArrayReader } from "../gemini/array-reader.ts";
import { geminiArrayWriter } from "../gemini/array-writer.ts";
import { geminiCodec } from "../gemini/gemini-codec.ts";
import { messagesCodec } from "../messages/messages-codec.ts";
import { chatCodec } from "../openai/chat/codec.ts";
import { responsesCodec } from "../responses/responses-codec.ts";
import type { ReplyContext, StreamReader, StreamWriter } from "./codec.ts";
import type { ConversationReply } from "./reply.ts";
import { eventsOfReply, replyOfEvents } from "./reply-events.ts";

const context: ReplyContext = { callId: "01M7ZCJS40W7XGM7PK3K4WW4K6", model: "m", created: 1_763_712_000, request: {}, includeUsage: true };
const text = fc
  .string({ unit: fc.constantFrom("a", " ", "\n", '"', "ü", "👋", "data: ", "\\"), minLength: 1, maxLength: 120 })
  .filter((words) => words.trim() !== "");
const usage = fc.record({
  inputUncached: fc.nat(999),
  cacheRead: fc.constant(0),
  cacheWrite: fc.constant(0),
  cacheWriteHour: fc.constant(0),
  output: fc.integer({ min: 1, max: 999 }),
  reasoning: fc.constant(0),
  estimated: fc.constant(false),
});
const reply: fc.Arbitrary<ConversationReply> = fc
  .record({ text, usage })
  .map(({ text: said, usage: counted }) => ({
    id: "answer-1",
    candidates: [{ index: 0, parts: [{ kind: "text", text: said }], stop: "end", stopSequence: null, stopDetail: null }],
    usage: counted,
  }));

const textIn = (read: ConversationReply | null) =>
  read?.candidates.map(({ parts, stop }) => [stop, parts.map((part) => ("text" in part ? part.text : "")).join("")]);

describe("an answer converted to stream events and back", () => {
  test("is unchanged", () => {
    fc.assert(fc.property(reply, (whole) => expect(replyOfEvents(eventsOfReply(whole))).toEqual(whole)));
  });

  const surfaces: [string, () => StreamWriter, () => StreamReader][] = [
    ...[chatCodec, responsesCodec, messagesCodec, geminiCodec, completionsCodec].map(
      (codec): [string, () => StreamWriter, () => StreamReader] => [
        codec.format,
        () => codec.streamWriter(context),
        () => codec.streamReader(),
      ],
    ),
    ["gemini array", () => geminiArrayWriter(context), () => new GeminiArrayReader()],
  ];

  test.each(surfaces)(
    "is also unchanged when written and read in the format %s, however its bytes are cut",
    (_name, writerOf, readerOf) => {
      fc.assert(
        fc.property(reply, fc.integer({ min: 1, max: 200 }), (whole, size) => {
          const [writer, reader] = [writerOf(), readerOf()];
          const bytes = new TextEncoder().encode(
            eventsOfReply(whole)
              .map((event) => writer.write(event))
              .join("") + writer.close(),
          );
          const events = [];
          for (let at = 0; at < bytes.length; at += size) events.push(...reader.push(bytes.subarray(at, at + size)));
          const end = reader.end();
          expect(end.complete).toBe(true);
          const read = replyOfEvents([...events, ...end.events]);
          expect(textIn(read)).toEqual(textIn(whole));
          expect(read?.usage?.output).toBe(whole.usage?.output as number);
        }),
        { numRuns: 60 },
      );
    },
  );

  test("is null if the stream is incomplete or failed", () => {
    const events = eventsOfReply({
      id: null,
      candidates: [{ index: 0, parts: [{ kind: "text", text: "x" }], stop: "end", stopSequence: null, stopDetail: null }],
      usage: null,
    });
    expect(replyOfEvents(events.filter(({ kind }) => kind !== "stop"))).toBeNull();
    expect(replyOfEvents([...events, { kind: "fault", fault: { status: 500, message: "x", code: null, param: null } }])).toBeNull();
    expect(replyOfEvents([])).toBeNull();
  });
});

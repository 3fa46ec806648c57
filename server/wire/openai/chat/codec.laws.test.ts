import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ReplyContext } from "../../conversation/codec.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { chatAnswer, conversations, plainAssistant } from "../arbitrary-conversations.ts";
import { cut, cuts } from "../arbitrary-cuts.ts";
import { eventsOf, replyOf } from "../arbitrary-events.ts";
import { replies } from "../arbitrary-replies.ts";
import { chatCodec } from "./codec.ts";

const TARGET = { name: "m", maxOutputTokens: null };
const CONTEXT: ReplyContext = { callId: "abc", model: "m", created: 1, request: {}, includeUsage: true };

const audio = fc.record({
  kind: fc.constant("audio" as const),
  base64: fc.constant("UklGRg=="),
  mediaType: fc.constantFrom("audio/wav", "audio/mpeg"),
});
const requests = conversations({
  assistant: plainAssistant,
  extra: audio,
  mostInstructions: 3,
  strict: fc.option(fc.boolean()),
  own: fc.record({
    stop: fc.array(fc.constantFrom("\n", "END"), { maxLength: 2 }),
    seed: fc.option(fc.nat()),
    presencePenalty: fc.option(fc.constantFrom(-1, 0.5)),
    frequencyPenalty: fc.option(fc.constantFrom(-1, 0.5)),
    candidates: fc.option(fc.integer({ min: 1, max: 3 })),
    reasoning: fc.option(
      fc.record({
        effort: fc.constantFrom("none" as const, "low" as const, "max" as const),
        budgetTokens: fc.constant(null),
        visible: fc.constant(null),
      }),
    ),
  }),
});
const answers = replies(chatAnswer, fc.constantFrom("chatcmpl-1", "msg_2"));

/** After serialization. */
const sent = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

describe("what chat completions support is kept", () => {
  test("in a conversation written and read again", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const written = chatCodec.writeRequest(request, TARGET);
        if ("unsupported" in written) throw new Error(JSON.stringify(written));
        expect(written.dropped).toEqual([]);
        expect(chatCodec.readRequest(sent(written.body))).toEqual({ request, dropped: [] });
      }),
    );
  });

  test("in an answer written and read again", () => {
    fc.assert(fc.property(answers, (reply) => expect(chatCodec.readReply(sent(chatCodec.writeReply(reply, CONTEXT)))).toEqual(reply)));
  });

  test("in an answer streamed and read again, however its bytes are cut", () => {
    fc.assert(
      fc.property(answers, fc.integer({ min: 1, max: 5 }), cuts, (reply, size, sizes) => {
        const writer = chatCodec.streamWriter(CONTEXT);
        const wire =
          eventsOf(reply, size)
            .map((event) => writer.write(event))
            .join("") + writer.close();
        const reader = chatCodec.streamReader();
        const events = cut(wire, sizes).flatMap((piece) => reader.push(piece));
        const end = reader.end();
        expect(end.complete).toBe(true);
        expect(replyOf([...events, ...end.events])).toEqual(reply);
      }),
    );
  });
});

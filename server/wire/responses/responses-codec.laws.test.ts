import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ReplyContext } from "../conversation/codec.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { conversations, sealedAssistant } from "../openai/arbitrary-conversations.ts";
import { cut, cuts } from "../openai/arbitrary-cuts.ts";
import { eventsOf, replyOf } from "../openai/arbitrary-events.ts";
import { replies } from "../openai/arbitrary-replies.ts";
import { responsesCodec } from "./responses-codec.ts";

const TARGET = { name: "m", maxOutputTokens: null };
const CONTEXT: ReplyContext = { callId: "abc", model: "m", created: 1, request: {}, includeUsage: true };

const file = fc.oneof(
  fc.record({
    kind: fc.constant("file" as const),
    source: fc.record({ url: fc.constant("https://example.com/a.pdf") }),
    mediaType: fc.constant(null),
    name: fc.constant(null),
  }),
  fc.record({ kind: fc.constant("image" as const), source: fc.record({ fileId: fc.constant("file-1") }), mediaType: fc.constant(null) }),
);
const requests = conversations({
  assistant: sealedAssistant,
  extra: file,
  mostInstructions: 1,
  strict: fc.boolean(),
  own: fc.record({
    reasoning: fc.option(
      fc.record({
        effort: fc.constantFrom("none" as const, "low" as const, "max" as const),
        budgetTokens: fc.constant(null),
        visible: fc.constantFrom(null, true),
      }),
    ),
  }),
});
const answers = replies(sealedAssistant, fc.constant("resp_1"));

/** After serialization. */
const sent = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

describe("what Responses supports is kept", () => {
  test("in a conversation written and read again", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const written = responsesCodec.writeRequest(request, TARGET);
        if ("unsupported" in written) throw new Error(JSON.stringify(written));
        expect(written.dropped).toEqual([]);
        expect(responsesCodec.readRequest(sent(written.body))).toEqual({ request, dropped: [] });
      }),
    );
  });

  test("in an answer written and read again", () => {
    fc.assert(
      fc.property(answers, (reply) => expect(responsesCodec.readReply(sent(responsesCodec.writeReply(reply, CONTEXT)))).toEqual(reply)),
    );
  });

  test("in an answer streamed and read again, however its bytes are cut, and in its last event", () => {
    fc.assert(
      fc.property(answers, fc.integer({ min: 1, max: 5 }), cuts, (reply, size, sizes) => {
        const writer = responsesCodec.streamWriter(CONTEXT);
        const body = eventsOf(reply, size)
          .map((event) => writer.write(event))
          .join("");
        const last = writer.close();
        const reader = responsesCodec.streamReader();
        const events = cut(body + last, sizes).flatMap((piece) => reader.push(piece));
        const end = reader.end();
        expect(end.complete).toBe(true);
        expect(replyOf([...events, ...end.events])).toEqual(reply);
        expect(JSON.parse(last.slice(last.indexOf("data: ") + 6)).response).toEqual(sent(responsesCodec.writeReply(reply, CONTEXT)));
      }),
    );
  });
});

import { expect, test } from "bun:test";
import { completionsCodec } from "./completions/completions-codec.ts";
import { eventsOfReply } from "./conversation/reply-events.ts";
import type { ConversationReply } from "./conversation/reply.ts";
import { geminiCodec } from "./gemini/gemini-codec.ts";
import { messagesCodec } from "./messages/messages-codec.ts";
import { chatCodec } from "./openai/chat/codec.ts";
import { responsesCodec } from "./responses/responses-codec.ts";

/** Every Unicode line break. Python's `splitlines`, which clients use to read streams, splits at each of them. */
const BREAKS = "a\nb\r\nc\u0085d\u2028e\u2029f\v\fg";
const reply: ConversationReply = {
  id: "x",
  candidates: [{ index: 0, parts: [{ kind: "text", text: BREAKS }], stop: "end", stopSequence: null, stopDetail: null }],
  usage: null,
};

test.each([chatCodec, completionsCodec, geminiCodec, messagesCodec, responsesCodec])(
  "a text with any Unicode line breaks stays on one line of a stream event ($format)",
  (codec) => {
    const writer = codec.streamWriter({ callId: "c", model: "m", created: 1, request: {}, includeUsage: false });
    const wire =
      eventsOfReply(reply)
        .map((event) => writer.write(event))
        .join("") + writer.close();
    expect(wire.replaceAll("\r\n", "\n")).not.toMatch(/[\r\v\f\u0085\u2028\u2029]/);
    const read = codec.streamReader();
    const events = [...read.push(new TextEncoder().encode(wire)), ...read.end().events];
    expect(events.map((event) => (event.kind === "delta" ? event.text : "")).join("")).toBe(BREAKS);
  },
);

import { expect, test } from "bun:test";
import { geminiCodec } from "../gemini/gemini-codec.ts";
import { messagesCodec } from "../messages/messages-codec.ts";
import { chatCodec } from "../openai/chat/codec.ts";
import type { StreamReader } from "./codec.ts";
import { TranslatedStream } from "./translated-stream.ts";

const encoder = new TextEncoder();
const WORDS = "word ".repeat(80);

/** The usage reported by the stream after these events. */
function used(reader: StreamReader, ...events: readonly object[]) {
  const stream = new TranslatedStream(
    reader,
    chatCodec.streamWriter({ callId: "c", model: "m", created: 0, request: {}, includeUsage: true }),
    null,
  );
  for (const event of events) stream.push(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
  stream.end();
  return stream.usage;
}

test("usage of an interrupted stream is estimated for the text after the last reported usage", () => {
  const start = { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 80, output_tokens: 1 } } };
  const begin = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
  const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: WORDS } };
  const end = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 90 } };
  expect(used(messagesCodec.streamReader(), start, begin, delta)).toMatchObject({ inputUncached: 80, output: 101, estimated: true });
  expect(used(messagesCodec.streamReader(), start, begin, delta, end, { type: "message_stop" })).toMatchObject({
    inputUncached: 80,
    output: 90,
    estimated: false,
  });
});

test("usage reported with the latest chunk is taken as is, and text after it is estimated", () => {
  const piece = (more: object) => ({ candidates: [{ content: { role: "model", parts: [{ text: WORDS }] }, index: 0 }], ...more });
  const told = { usageMetadata: { promptTokenCount: 80, candidatesTokenCount: 70, totalTokenCount: 150 } };
  expect(used(geminiCodec.streamReader(), piece({}), piece(told))).toMatchObject({ inputUncached: 80, output: 70, estimated: false });
  expect(used(geminiCodec.streamReader(), piece(told), piece({}))).toMatchObject({ inputUncached: 80, output: 170, estimated: true });
});

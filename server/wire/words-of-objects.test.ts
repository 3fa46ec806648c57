import { describe, expect, test } from "bun:test";
import { streamFault } from "./converse/fault.ts";
import { capabilityOf, mirrorsName } from "./mcp/capability.ts";
import { readMessagesFault, writeMessagesFault } from "./messages/fault.ts";
import { messagesCodec } from "./messages/messages-codec.ts";
import { chatCodec } from "./openai/chat/codec.ts";
import { fileName } from "./openai/files.ts";
import { genAiFacts } from "./otlp/gen-ai.ts";
import { responsesCodec } from "./responses/responses-codec.ts";
import { TranscriptionRequest } from "./transcriptions/transcription-request.ts";
import { readTranscriptionRequest } from "./transcriptions/read-transcription.ts";
import { linesOf } from "./videos/resolution.ts";

/** Names of `Object.prototype` members are ordinary words in requests and answers. */
const said = (word: string, value: unknown) => JSON.parse(`{${JSON.stringify(word)}: ${JSON.stringify(value)}}`);

describe.each(["constructor", "toString", "__proto__"])("the word %s", (word) => {
  test("is no known tool type", () => {
    for (const more of [{ tools: [{ type: word }] }, { tool_choice: { type: word } }]) {
      const read = responsesCodec.readRequest({ model: "m", input: "hi", ...more });
      expect("unsupported" in read && read.unsupported.map(({ field }) => field.replace(/\[.*/, ""))).toEqual(Object.keys(more));
    }
  });

  test("is an unknown member that is dropped", () => {
    const messages = [{ role: "user", content: "hi" }];
    const chat = chatCodec.readRequest({ model: "m", messages, ...said(word, "x") });
    expect("dropped" in chat && chat.dropped).toEqual([word]);
    const ofClaude = messagesCodec.readRequest({ model: "m", max_tokens: 5, messages, ...said(word, "x") });
    expect("dropped" in ofClaude && [...ofClaude.dropped]).toEqual([word]);
  });

  test("is a text field of a form", () => {
    const file = { name: "a.mp3", mimeType: "audio/mpeg", bytes: 1, hash: "h", content: new Uint8Array(1) } as never;
    const form = new Map([
      ["model", "m"],
      [word, "what is said"],
    ]);
    const read = readTranscriptionRequest("transcriptions", form, new Map(), file, 9);
    expect(read instanceof TranscriptionRequest && read.texts().map(({ text }) => text)).toContain("what is said");
  });

  test("is no tool server capability, no mirrored name, no media type and no resolution", () => {
    expect([capabilityOf(word, {}), mirrorsName(word)]).toEqual([null, false]);
    expect(fileName({ kind: "file", name: null, mediaType: word, source: { base64: "" } })).toBe("document.pdf");
    expect(linesOf(word)).toBeNull();
  });

  test("is an error type without a known status", () => {
    expect(readMessagesFault(null, { error: { type: word, message: "no" } }).status).toBe(500);
    expect(writeMessagesFault({ status: 429, message: "no", code: word, param: null }, "1").error).toMatchObject({
      type: "rate_limit_error",
    });
    expect(streamFault(word, {}).status).toBe(502);
  });

  test("is no known span kind, but may be a provider's name", () => {
    const attributes = { ...said("openinference.span.kind", word), ...said("llm.system", word) };
    const { provider, operation } = genAiFacts({ attributes, resource: {} } as never);
    expect([provider, operation]).toEqual([word, "span"]);
  });
});

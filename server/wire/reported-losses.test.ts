import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../kernel/json-value.ts";
import { DEFAULT_REQUEST } from "./conversation/default-request.ts";
import type { CallerCodec, ProviderCodec } from "./conversation/codec.ts";
import type { FilePart, ImagePart } from "./conversation/conversation-parts.ts";
import { converseCodec } from "./converse/converse-codec.ts";
import { geminiCodec } from "./gemini/gemini-codec.ts";
import { messagesCodec } from "./messages/messages-codec.ts";
import { chatCodec } from "./openai/chat/codec.ts";
import { responsesCodec } from "./responses/responses-codec.ts";

/** What a translation leaves out is reported by the caller's name for it, and what has no effect is not mentioned. */
const droppedOf = (codec: CallerCodec, body: JsonObject) => {
  const read = codec.readRequest({ model: "m", ...body });
  return "dropped" in read ? [...read.dropped].sort() : read.unsupported;
};

describe("what readers leave out", () => {
  const hello = { role: "user", content: "hi" };

  test.each([
    ["pictures as answers", { modalities: ["text", "image"] }, ["modalities"]],
    ["texts as answers", { modalities: ["text"] }, []],
    ["members of messages", { messages: [{ ...hello, metadata: { a: 1 }, weight: 0 }] }, ["messages[].metadata", "messages[].weight"]],
    ["a member that another role has", { messages: [{ ...hello, tool_call_id: "c" }] }, ["messages[].tool_call_id"]],
    [
      "members of content parts",
      { messages: [{ role: "user", content: [{ type: "text", text: "hi", confidence: 1 }] }] },
      ["messages[].content[].confidence"],
    ],
    [
      "parts of an earlier answer",
      { messages: [{ role: "assistant", content: [{ type: "text", text: "Seen." }, { type: "smell" }] }, hello] },
      ["messages[0].content[1]"],
    ],
    [
      "an answer as the official client sends it back",
      {
        messages: [
          hello,
          { role: "assistant", content: "Hello", refusal: null, annotations: [], audio: null, function_call: null, tool_calls: [] },
          {
            role: "assistant",
            content: [
              { type: "refusal", refusal: "" },
              { type: "text", text: "" },
            ],
            reasoning_content: "Hm",
          },
          hello,
        ],
      },
      [],
    ],
  ] as [string, JsonObject, string[]][])("of a chat completion: %s", (_name, body, dropped) => {
    expect(droppedOf(chatCodec, { messages: [hello], ...body })).toEqual(dropped);
  });

  test.each([
    ["members of messages", [{ ...hello, metadata: { a: 1 } }], ["input[].metadata"]],
    [
      "members of content parts",
      [{ role: "user", content: [{ type: "input_text", text: "hi", confidence: 1 }] }],
      ["input[].content[].confidence"],
    ],
    [
      "parts of an earlier answer",
      [{ role: "assistant", content: [{ type: "output_text", text: "Seen." }, { type: "smell" }] }, hello],
      ["input[0].content[1]"],
    ],
    [
      "an answer as the official client sends it back",
      [
        {
          ...{ id: "msg_1", type: "message", role: "assistant", status: "completed", phase: "final_answer" },
          content: [{ type: "output_text", text: "Seen.", annotations: [], logprobs: [] }],
        },
        hello,
      ],
      [],
    ],
  ] as [string, JsonObject[], string[]][])("of a response: %s", (_name, input, dropped) => {
    expect(droppedOf(responsesCodec, { input })).toEqual(dropped);
  });

  test.each([
    ["members of messages", { messages: [{ ...hello, name: "ada" }] }, ["messages[].name"]],
    ["members of `metadata`", { metadata: { user_id: "u", team: "t" } }, ["metadata.team"]],
    [
      "members of blocks",
      {
        messages: [
          { role: "user", content: [{ type: "text", text: "hi", confidence: 1 }] },
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {}, caller: { type: "direct" } }] },
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "t", took_ms: 4, content: [{ type: "text", text: "4", confidence: 1 }] }],
          },
        ],
      },
      ["messages[].content[].confidence", "messages[].content[].content[].confidence", "messages[].content[].took_ms"],
    ],
    [
      "citations of an earlier answer",
      { messages: [{ role: "assistant", content: [{ type: "text", text: "Seen.", citations: [{ type: "page_location" }] }] }, hello] },
      ["messages[].content[].citations"],
    ],
    [
      "an answer as the official client sends it back",
      { messages: [hello, { role: "assistant", content: [{ type: "text", text: "Seen.", citations: null }] }, hello] },
      [],
    ],
  ] as [string, JsonObject, string[]][])("of a message: %s", (_name, body, dropped) => {
    expect(droppedOf(messagesCodec, { max_tokens: 9, messages: [hello], ...body })).toEqual(dropped);
  });
});

const CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0";

describe("what writers leave out", () => {
  const image = (detail: string): ImagePart => ({ kind: "image", source: { base64: "/9j/4AAQ" }, mediaType: "image/jpeg", detail });
  const file = (name: string | null): FilePart => ({ kind: "file", source: { base64: "JVBERi0=" }, mediaType: "application/pdf", name });
  const tools = [{ name: "f", description: null, schema: { type: "object" }, strict: null }];
  /** The losses with the part in a message, and with it in a tool's result. */
  const dropped = (codec: ProviderCodec, part: ImagePart | FilePart) =>
    [[part], [{ kind: "tool_result", callId: "c", toolName: "f", content: [part], isError: false } as const]].map((parts) => {
      const calls = { role: "assistant", parts: [{ kind: "tool_call", id: "c", name: "f", arguments: "{}" }] } as const;
      const turns = [{ role: "user", parts: [{ kind: "text", text: "Look." }] } as const, calls, { role: "user", parts } as const];
      const written = codec.writeRequest({ ...DEFAULT_REQUEST, tools, turns }, { name: CLAUDE, maxOutputTokens: null });
      return "dropped" in written ? written.dropped : written.unsupported;
    });

  test.each([
    ["messages", messagesCodec, ["image_detail"]],
    ["Gemini", geminiCodec, ["image_detail"]],
    ["Converse", converseCodec, ["image_detail"]],
  ] as [string, ProviderCodec, string[]][])(
    "for %s: how closely to look at a picture, unless it is left to the model",
    (_name, codec, lost) => {
      expect([dropped(codec, image("high")), dropped(codec, image("auto"))] as unknown[]).toEqual([
        [lost, lost],
        [[], []],
      ]);
    },
  );

  test("for Gemini: a file's name, under which all other formats send it", () => {
    expect([dropped(geminiCodec, file("report.pdf")), dropped(geminiCodec, file(null))] as unknown[]).toEqual([
      [["file_name"], ["file_name"]],
      [[], []],
    ]);
    for (const codec of [messagesCodec, converseCodec]) expect(dropped(codec, file("report.pdf"))).toEqual([[], []]);
  });
});

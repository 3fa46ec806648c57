import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../kernel/json-value.ts";
import { geminiCodec } from "../gemini/gemini-codec.ts";
import { messagesCodec } from "../messages/messages-codec.ts";
import { chatCodec } from "../openai/chat/codec.ts";
import { responsesCodec } from "../responses/responses-codec.ts";
import type { CallerCodec, ReplyContext } from "./codec.ts";
import { eventsOfReply, replyOfEvents } from "./reply-events.ts";
import type { ConversationReply } from "./reply.ts";

const CONTEXT: ReplyContext = { callId: "k", model: "painter", created: 1_700_000_000, request: {}, includeUsage: true };
const PICTURE = { kind: "picture", mediaType: "image/png", base64: "iVBORw0KGgo=" } as const;
const inline = { inlineData: { mimeType: "image/png", data: PICTURE.base64 } };
const body = {
  responseId: "r1",
  candidates: [
    {
      index: 0,
      content: {
        role: "model",
        parts: [{ thought: true, ...inline }, { text: "Here:" }, { ...inline, thoughtSignature: "c2ln" }, { text: "Done." }],
      },
      finishReason: "STOP",
    },
  ],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290, totalTokenCount: 1295 },
};
const reply = geminiCodec.readReply(body) as ConversationReply;

const parts = [{ kind: "text", text: "Here:" }, PICTURE, { kind: "text", text: "Done." }];

function streamed(codec: CallerCodec): string {
  const reader = geminiCodec.streamReader();
  const writer = codec.streamWriter(CONTEXT);
  const events = [...reader.push(new TextEncoder().encode(`data: ${JSON.stringify(body)}\r\n\r\n`)), ...reader.end().events];
  return events.map((event) => writer.write(event)).join("") + writer.close();
}

function readAgain(codec: typeof chatCodec): ConversationReply | null {
  const reader = codec.streamReader();
  return replyOfEvents([...reader.push(new TextEncoder().encode(streamed(codec))), ...reader.end().events]);
}

describe("an image in a model's answer", () => {
  test("is read, but an image within the model's reasoning is not", () => {
    expect(reply.candidates[0]?.parts.slice(-3)).toEqual(parts as never);
    expect(reply.candidates[0]?.parts.filter(({ kind }) => kind === "picture")).toHaveLength(1);
    expect(replyOfEvents(eventsOfReply(reply))).toEqual(reply);
  });

  test("is sent in `images` to callers of chat completions", () => {
    const images = [{ index: 0, type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE.base64}` } }];
    expect(chatCodec.writeReply(reply, CONTEXT)).toMatchObject({ choices: [{ message: { content: "Here:Done.", images } }] });
    expect(streamed(chatCodec)).toContain(JSON.stringify({ images }));
  });

  test("is sent as an image_generation_call item to callers of Responses", () => {
    const item = { type: "image_generation_call", status: "completed", output_format: "png", result: PICTURE.base64 };
    expect(responsesCodec.writeReply(reply, CONTEXT)).toMatchObject({ output: [{ type: "message" }, item, { type: "message" }] });
    const events = [...streamed(responsesCodec).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
    expect(
      events
        .filter((event) => event.item?.type === "image_generation_call")
        .map(({ type, output_index, item: { status } }) => [type, output_index, status]),
    ).toEqual([
      ["response.output_item.added", 1, "in_progress"],
      ["response.output_item.done", 1, "completed"],
    ]);
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: { output: [{ type: "message" }, item, { type: "message" }] },
    });
  });

  test.each([
    ["chat completions", chatCodec],
    ["responses", responsesCodec],
    ["gemini", geminiCodec],
  ] as const)("is read back from an answer in the format %s, complete and streamed", (_name, codec) => {
    const sorted = (read: ConversationReply | null) => read?.candidates[0]?.parts.filter(({ kind }) => kind === "picture");
    expect(sorted(codec.readReply(codec.writeReply(reply, CONTEXT)))).toEqual([PICTURE]);
    expect(sorted(readAgain(codec))).toEqual([PICTURE]);
  });

  test("becomes a text note for callers of Anthropic's Messages, which has no place for an image", () => {
    const { content } = messagesCodec.writeReply(reply, CONTEXT) as unknown as { content: { type: string; text: string }[] };
    expect(content.map(({ type }) => type)).toEqual(["text", "text", "text"]);
    expect(content[1]?.text).toContain("The model made a picture (image/png)");
    expect(streamed(messagesCodec)).toContain("The model made a picture (image/png)");
    expect(streamed(messagesCodec)).not.toContain(PICTURE.base64);
  });
});

const user = (text: string) => ({ role: "user", content: text });
const url = `data:image/png;base64,${PICTURE.base64}`;
const image = { kind: "image", source: { base64: PICTURE.base64 }, mediaType: "image/png" };
const shown = [{ kind: "text", text: "The picture you made above:" }, image, { kind: "text", text: "Blue" }];
const asked = { role: "user", parts: [{ kind: "text", text: "A cat" }] };
const spoke = (codec: CallerCodec, sent: JsonObject) => {
  const read = codec.readRequest(sent);
  if ("unsupported" in read) throw new Error(JSON.stringify(read.unsupported));
  return { turns: read.request.turns, dropped: read.dropped };
};

describe("an image that a caller sends back in the history", () => {
  const { output } = responsesCodec.writeReply(reply, CONTEXT) as { output: JsonObject[] };
  const { choices } = chatCodec.writeReply(reply, CONTEXT) as unknown as { choices: { message: JsonObject }[] };
  const { candidates } = geminiCodec.writeReply(reply, CONTEXT) as unknown as { candidates: { content: JsonObject }[] };
  const told = (text: string) => ({ role: "user", parts: [{ text }] });

  test.each([
    ["responses", responsesCodec, { input: [user("A cat"), ...output, user("Blue")] }],
    ["chat completions", chatCodec, { messages: [user("A cat"), choices[0]?.message as JsonObject, user("Blue")] }],
    ["gemini", geminiCodec, { contents: [told("A cat"), candidates[0]?.content as JsonObject, told("Blue")] }],
  ] satisfies [string, CallerCodec, JsonObject][])("over %s is given to the model with the user's next message", (_name, codec, again) => {
    const { turns, dropped } = spoke(codec, again);
    expect(turns).toMatchObject([asked, { role: "assistant" }, { role: "user", parts: shown }]);
    expect(JSON.stringify(turns[1])).not.toContain(PICTURE.base64);
    expect(JSON.stringify(turns[1])).toContain("Done.");
    expect(dropped).toEqual([]);
  });

  test("over chat completions may stand among text parts, also as a URL", () => {
    const among = [
      { type: "text", text: "Here:" },
      { type: "image_url", image_url: { url } },
      { type: "image_url", image_url: { url: "https://example.com/cat.png" } },
    ];
    const { turns } = spoke(chatCodec, { messages: [user("A cat"), { role: "assistant", content: among }, user("Blue")] });
    expect(turns).toMatchObject([
      asked,
      { role: "assistant", parts: [{ text: "Here:" }] },
      {
        role: "user",
        parts: [
          { text: "The pictures you made above:" },
          image,
          { kind: "image", source: { url: "https://example.com/cat.png" } },
          { text: "Blue" },
        ],
      },
    ]);
  });

  test("is added after the results of tool calls made in the same turn", () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
    const { turns } = spoke(chatCodec, {
      messages: [
        user("A cat"),
        { role: "assistant", content: null, images: [{ type: "image_url", image_url: { url } }], tool_calls: [call] },
        { role: "tool", tool_call_id: "c", content: "4" },
        { role: "assistant", content: "Four." },
        user("Blue"),
      ],
    });
    expect(turns.map((turn) => turn.parts.map(({ kind }) => kind))).toEqual([
      ["text"],
      ["tool_call"],
      ["tool_result"],
      ["text"],
      ["text", "image", "text"],
    ]);
    const drawn = { role: "model", parts: [{ ...inline }, { functionCall: { id: "c", name: "f", args: {} } }] };
    const answered = { role: "user", parts: [{ functionResponse: { id: "c", name: "f", response: { output: "4" } } }] };
    expect(
      spoke(geminiCodec, { contents: [told("A cat"), drawn, answered, told("Blue")] }).turns.map((turn) =>
        turn.parts.map(({ kind }) => kind),
      ),
    ).toEqual([["text"], ["tool_call"], ["tool_result"], ["text", "image", "text"]]);
  });

  test("is reported as dropped without a later user message; an image within reasoning is ignored", () => {
    expect(
      spoke(chatCodec, {
        messages: [user("A cat"), { role: "assistant", content: "Here:", images: [{ type: "image_url", image_url: { url } }] }],
      }).dropped,
    ).toEqual(["messages[1].images"]);
    expect(spoke(responsesCodec, { input: [user("A cat"), ...output] }).dropped).toEqual(["input[2]"]);
    expect(spoke(geminiCodec, { contents: [told("A cat"), { role: "model", parts: [{ ...inline }] }] }).dropped).toEqual([
      "contents[1].parts[0]",
    ]);
    expect(
      spoke(geminiCodec, {
        contents: [told("A cat"), { role: "model", parts: [{ thought: true, ...inline }, { text: "Done." }] }, told("Blue")],
      }),
    ).toMatchObject({ turns: [asked, { role: "assistant", parts: [{ text: "Done." }] }, { parts: [{ text: "Blue" }] }], dropped: [] });
  });
});

import { describe, expect, test } from "bun:test";
import { DEFAULT_REQUEST } from "../conversation/default-request.ts";
import type { FilePart } from "../conversation/conversation-parts.ts";
import { geminiCodec } from "../gemini/gemini-codec.ts";
import { messagesCodec } from "../messages/messages-codec.ts";
import { responsesCodec } from "../responses/responses-codec.ts";
import { chatCodec } from "./chat/codec.ts";

const TARGET = { name: "gpt-5", maxOutputTokens: null };
const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");
const file = (given: Partial<FilePart>): FilePart => ({
  kind: "file",
  source: { base64: base64("x") },
  mediaType: "application/pdf",
  name: null,
  ...given,
});

function written(part: FilePart): unknown[] {
  const request = { ...DEFAULT_REQUEST, turns: [{ role: "user" as const, parts: [part, { kind: "text" as const, text: "Sum it up." }] }] };
  const [chat, responses] = [chatCodec, responsesCodec].map((codec) => codec.writeRequest(request, TARGET) as { body: any });
  return [chat?.body.messages[0].content[0], responses?.body.input[0].content[0]];
}

describe("a file sent to OpenAI's formats", () => {
  test.each([
    [null, "application/pdf", "document.pdf"],
    [null, null, "document.pdf"],
    ["Annual report", "application/pdf", "Annual report.pdf"],
    ["Version 2.1", "application/pdf", "Version 2.1.pdf"],
    ["a.PDF", "application/pdf", "a.PDF"],
    ["Figures", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Figures.xlsx"],
    [null, "video/mp4", "document.mp4"],
    [null, "application/vnd.acme.thing", "document.pdf"],
  ])("named %j with type %j gets the file name %s", (name, mediaType, expected) => {
    const file_data = `data:${mediaType ?? "application/pdf"};base64,${base64("x")}`;
    expect(written(file({ name, mediaType }))).toEqual([
      { type: "file", file: { filename: expected, file_data } },
      { type: "input_file", filename: expected, file_data },
    ]);
  });

  test.each([
    [null, "text/plain", "größte"],
    ["notes.md", "text/markdown; charset=utf-8", "notes.md:\n\ngrößte"],
    ["data", "application/json", "data:\n\ngrößte"],
  ])("named %j with text type %s is sent as text", (name, mediaType, text) => {
    const said = [
      { type: "text", text },
      { type: "input_text", text },
    ];
    expect(written(file({ name, mediaType, source: { base64: base64("größte") } }))).toEqual(said);
    expect(written(file({ name, mediaType, source: { text: "größte" } }))).toEqual(said);
  });

  test("is written equally from requests in Google's and Anthropic's formats", () => {
    const google = geminiCodec.readRequest({
      contents: [{ parts: [{ inlineData: { mimeType: "text/csv", data: base64("a;b") } }, { text: "Sum it up." }] }],
    });
    const anthropic = messagesCodec.readRequest({
      max_tokens: 1,
      messages: [
        {
          role: "user",
          content: [{ type: "document", title: "Report", source: { type: "base64", media_type: "application/pdf", data: base64("x") } }],
        },
      ],
    });
    const body = (read: typeof google) =>
      "request" in read ? (chatCodec.writeRequest(read.request, TARGET) as { body: any }).body.messages[0].content[0] : read;
    expect(body(google)).toEqual({ type: "text", text: "a;b" });
    expect(body(anthropic)).toMatchObject({ type: "file", file: { filename: "Report.pdf" } });
  });
});

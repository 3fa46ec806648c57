import { expect, test } from "bun:test";
import type { JsonObject } from "../kernel/json-value.ts";
import { type FileContent, type FileNamingFormat, filePlaces } from "./stored-file-places.ts";

const ID = "file-01K9ZXCVBNM0123456789ABCDE";
const TEXT: FileContent = { mimeType: "text/plain", name: "a.txt", bytes: new TextEncoder().encode("words") };
const IMAGE: FileContent = { mimeType: "image/png", name: "a.png", bytes: new Uint8Array([1, 2, 3]) };
const PDF: FileContent = { mimeType: "application/pdf", name: "a.pdf", bytes: new Uint8Array([4, 5, 6]) };
const SOUND: FileContent = { mimeType: "audio/mpeg", name: "a.mp3", bytes: new Uint8Array([7, 8, 9]) };

const TURNS: Record<FileNamingFormat, (part: JsonObject) => JsonObject> = {
  chat: (part) => ({ messages: [{ role: "user", content: [part] }] }),
  responses: (part) => ({ input: [{ role: "user", content: [part] }] }),
  messages: (part) => ({ messages: [{ role: "user", content: [part] }] }),
  gemini: (part) => ({ contents: [{ role: "user", parts: [part] }] }),
};

/** The part with the file filled in, and the field that named the file. */
function filled(format: FileNamingFormat, part: JsonObject, content: FileContent): [JsonObject, string] {
  const [place] = filePlaces(TURNS[format](part), format);
  expect(place?.fileId).toBe(ID);
  place?.put(content);
  return [part, place?.field as string];
}

test.each([
  [TEXT, { type: "text", text: "words" }],
  [IMAGE, { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } }],
  [PDF, { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,BAUG" } }],
  [SOUND, { type: "input_audio", input_audio: { data: "BwgJ", format: "mp3" } }],
])("a stored file is inserted into a chat request: case %#", (content, part) => {
  expect(filled("chat", { type: "file", file: { file_id: ID } }, content)).toEqual([part, "messages[0].content[0].file.file_id"]);
});

test.each([
  [TEXT, { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,d29yZHM=" }],
  [IMAGE, { type: "input_image", image_url: "data:image/png;base64,AQID" }],
  [PDF, { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,BAUG" }],
])("a stored file is inserted into a Responses request: case %#", (content, part) => {
  expect(filled("responses", { type: "input_file", file_id: ID }, content)).toEqual([part, "input[0].content[0].file_id"]);
});

test.each([
  [TEXT, { type: "document", title: "a.txt", source: { type: "text", media_type: "text/plain", data: "words" } }],
  [IMAGE, { type: "image", source: { type: "base64", media_type: "image/png", data: "AQID" } }],
  [PDF, { type: "document", title: "a.pdf", source: { type: "base64", media_type: "application/pdf", data: "BAUG" } }],
])("a stored file is inserted into a Messages request: case %#", (content, part) => {
  const field = "messages[0].content[0].source.file_id";
  expect(filled("messages", { type: "document", source: { type: "file", file_id: ID } }, content)).toEqual([part, field]);
});

test.each(["fileData.fileUri", "file_data.file_uri"])("a stored file named by %s is inserted into a Gemini request", (names) => {
  const [member, name] = names.split(".") as [string, string];
  const part = { [member]: { [name]: ID } };
  expect(filled("gemini", part, PDF)).toEqual([
    { inlineData: { mimeType: "application/pdf", data: "BAUG" } } as JsonObject,
    `contents[0].parts[0].${names}`,
  ]);
});

test.each([`files/${ID}`, `https://gatehouse.example/v1beta/files/${ID}`, `http://localhost:8080/llm/v1/files/${ID}`])(
  "a stored file with the URI %s is inserted into a Gemini request",
  (fileUri) => {
    expect(filled("gemini", { fileData: { fileUri, mimeType: "text/plain" } }, PDF)[0]).toEqual({
      inlineData: { mimeType: "application/pdf", data: "BAUG" },
    });
  },
);

test("file IDs in tool inputs, tool definitions and of vendors are left unchanged", () => {
  const named = { type: "document", source: { type: "file", file_id: ID } };
  const inTool = { messages: [{ role: "assistant", content: [{ type: "tool_use", id: "t", name: "n", input: named }] }], tools: [named] };
  expect(filePlaces(inTool, "messages")).toEqual([]);
  const result = { type: "tool_result", tool_use_id: "t", content: [structuredClone(named)] };
  expect(filePlaces({ messages: [{ role: "user", content: [result] }] }, "messages")).toHaveLength(1);
  expect(filePlaces(TURNS.chat({ type: "file", file: { file_id: "file-9aBcDeFgHiJkLmNoPqRsTu" } }), "chat")).toEqual([]);
});

import { expect, test } from "bun:test";
import { vendorIds, vendorTemplates } from "./vendor-ids.ts";

test.each([
  [
    "a file of a message",
    { messages: [{ content: [{ type: "file", file: { file_id: "file-abc" } }] }] },
    "messages[0].content[0].file.file_id",
  ],
  ["a file of an item", { input: [{ content: [{ type: "input_file", file_id: "file-abc" }] }] }, "input[0].content[0].file_id"],
  ["a file of a block", { messages: [{ content: [{ source: { type: "file", file_id: "f" } }] }] }, "messages[0].content[0].source.file_id"],
  ["a vector store", { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }, "tools[0].vector_store_ids"],
  ["a container of a tool", { tools: [{ type: "code_interpreter", container: "cntr_1" }] }, "tools[0].container"],
  ["files of a container", { tools: [{ container: { type: "auto", file_ids: ["f"] } }] }, "tools[0].container.file_ids"],
  ["a container", { container: "container_1" }, "container"],
  ["a container with skills", { container: { id: "container_1", skills: [] } }, "container"],
  ["a skill of the account's", { container: { skills: [{ type: "custom", skill_id: "s" }] } }, "container.skills[0].skill_id"],
  ["a template", { prompt: { id: "pmpt_1" } }, "prompt"],
  ["a cache", { cachedContent: "cachedContents/1" }, "cachedContent"],
  ["a cache in another spelling", { cached_content: "cachedContents/1" }, "cached_content"],
  ["a file of Google's", { contents: [{ parts: [{ fileData: { fileUri: "files/1" } }] }] }, "contents[0].parts[0].fileData.fileUri"],
  ["a file in a bucket", { contents: [{ parts: [{ file_data: { file_uri: "gs://b/1" } }] }] }, "contents[0].parts[0].file_data.file_uri"],
  ["a store of Google's", { tools: [{ fileSearch: { fileSearchStoreNames: ["s"] } }] }, "tools[0].fileSearch.fileSearchStoreNames"],
  ["an item", { input: [{ type: "item_reference", id: "msg_abc" }] }, "input[0].id"],
  ["an item without a type", { input: [{ id: "msg_abc" }] }, "input[0].id"],
  ["an item without a type and a message", { input: [{ id: "msg_abc", role: "user", content: null }] }, "input[0].id"],
  ["reasoning without its content", { input: [{ type: "reasoning", id: "rs_abc", summary: [] }] }, "input[0].id"],
  ["a picture without its content", { input: [{ type: "image_generation_call", id: "ig_abc" }] }, "input[0].id"],
  ["an item behind a type that is the body's", { type: "tool_use", input: [{ type: "item_reference", id: "msg_abc" }] }, "input[0].id"],
  ["a recording", { messages: [{ role: "assistant", audio: { id: "audio_1" } }] }, "messages[0].audio"],
  ["a voice", { audio: { voice: { id: "voice_1" } } }, "audio.voice"],
  [
    "a file of Google's as a picture",
    { messages: [{ content: [{ image_url: { url: "https://generativelanguage.googleapis.com/v1beta/files/1" } }] }] },
    "messages[0].content[0].image_url.url",
  ],
  [
    "a file of Google's behind a name",
    { contents: [{ parts: [{ fileData: { fileUri: "https://x@generativelanguage.googleapis.com/v1beta/files/1" } }] }] },
    "contents[0].parts[0].fileData.fileUri",
  ],
  [
    "a file in a bucket as a document",
    { messages: [{ content: [{ source: { type: "url", url: "gs://b/1" } }] }] },
    "messages[0].content[0].source.url",
  ],
  [
    "a file in a bucket as an item",
    { input: [{ content: [{ type: "input_file", file_url: "gs://b/1" }] }] },
    "input[0].content[0].file_url",
  ],
  [
    "a skill of the account's in a shell",
    { tools: [{ type: "shell", environment: { type: "container_auto", skills: [{ type: "skill_reference", skill_id: "skill_1" }] } }] },
    "tools[0].environment.skills[0].skill_id",
  ],
  ["another case", { tools: [{ type: "code_interpreter", Container: "cntr_1" }] }, "tools[0].Container"],
])("%s of a vendor's is found", (_what, body, field) => {
  expect(vendorIds(body)).toEqual([field]);
});

test("what is nobody's account, and what tools are told, names nothing", () => {
  expect(
    vendorIds({
      prompt: "Say hello",
      metadata: { file_id: "a" },
      tools: [
        { type: "code_interpreter", container: { type: "auto" } },
        { name: "t", parameters: { properties: { file_id: { default: "a" } } } },
      ],
      container: {
        skills: [
          { type: "anthropic", skill_id: "pptx" },
          { type: "skill_reference", skill_id: "openai-spreadsheets" },
        ],
      },
      messages: [{ content: [{ type: "tool_use", id: "t", name: "n", input: { file_id: "a" } }] }],
      contents: [{ parts: [{ functionCall: { args: { container: "c" } } }, { fileData: { fileUri: "https://example.com/a.mp4" } }] }],
      audio: { voice: "alloy", format: "wav" },
      input: [
        { type: "item_reference", id: "msg_01M8QMQ98M3KA7WR8ZAMF11D7A00" },
        { type: "reasoning", id: "rs_01M8QMQ98M3KA7WR8ZAMF11D7A00", summary: [] },
        { type: "reasoning", id: "rs_abc", summary: [], encrypted_content: "e" },
        { type: "image_generation_call", id: "ig_abc", result: "aGk=" },
        { id: "msg_abc", role: "user", content: "hi" },
        { type: "function_call", id: "fc_abc", call_id: "c", name: "n", arguments: "{}" },
        { content: [{ type: "input_image", image_url: "https://example.com/a.png" }] },
      ],
    }),
  ).toEqual([]);
});

test("templates are those that may bring tools", () => {
  expect(vendorTemplates({ prompt: { id: "p" }, cachedContent: "c" })).toEqual(["prompt", "cachedContent"]);
  expect(vendorTemplates({ prompt: "hello", cachedContent: "" })).toEqual([]);
});

import { expect, test } from "bun:test";
import { vendorIds, vendorTemplates } from "./vendor-ids.ts";

test.each([
  [
    "file in a message",
    { messages: [{ content: [{ type: "file", file: { file_id: "file-abc" } }] }] },
    "messages[0].content[0].file.file_id",
  ],
  ["file in an item", { input: [{ content: [{ type: "input_file", file_id: "file-abc" }] }] }, "input[0].content[0].file_id"],
  ["file in a block", { messages: [{ content: [{ source: { type: "file", file_id: "f" } }] }] }, "messages[0].content[0].source.file_id"],
  ["vector store", { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }, "tools[0].vector_store_ids"],
  ["container of a tool", { tools: [{ type: "code_interpreter", container: "cntr_1" }] }, "tools[0].container"],
  ["files in a container", { tools: [{ container: { type: "auto", file_ids: ["f"] } }] }, "tools[0].container.file_ids"],
  ["container", { container: "container_1" }, "container"],
  ["container with skills", { container: { id: "container_1", skills: [] } }, "container"],
  ["custom skill", { container: { skills: [{ type: "custom", skill_id: "s" }] } }, "container.skills[0].skill_id"],
  ["prompt template", { prompt: { id: "pmpt_1" } }, "prompt"],
  ["cached content", { cachedContent: "cachedContents/1" }, "cachedContent"],
  ["cached content in snake_case", { cached_content: "cachedContents/1" }, "cached_content"],
  ["Google file", { contents: [{ parts: [{ fileData: { fileUri: "files/1" } }] }] }, "contents[0].parts[0].fileData.fileUri"],
  ["file in a bucket", { contents: [{ parts: [{ file_data: { file_uri: "gs://b/1" } }] }] }, "contents[0].parts[0].file_data.file_uri"],
  ["Google file search store", { tools: [{ fileSearch: { fileSearchStoreNames: ["s"] } }] }, "tools[0].fileSearch.fileSearchStoreNames"],
  ["item", { input: [{ type: "item_reference", id: "msg_abc" }] }, "input[0].id"],
  ["item without a type", { input: [{ id: "msg_abc" }] }, "input[0].id"],
  ["item without a type and with empty content", { input: [{ id: "msg_abc", role: "user", content: null }] }, "input[0].id"],
  ["reasoning item without content", { input: [{ type: "reasoning", id: "rs_abc", summary: [] }] }, "input[0].id"],
  ["image item without content", { input: [{ type: "image_generation_call", id: "ig_abc" }] }, "input[0].id"],
  ["item in a body with a type member", { type: "tool_use", input: [{ type: "item_reference", id: "msg_abc" }] }, "input[0].id"],
  ["audio recording", { messages: [{ role: "assistant", audio: { id: "audio_1" } }] }, "messages[0].audio"],
  ["custom voice", { audio: { voice: { id: "voice_1" } } }, "audio.voice"],
  [
    "Google file as an image URL",
    { messages: [{ content: [{ image_url: { url: "https://generativelanguage.googleapis.com/v1beta/files/1" } }] }] },
    "messages[0].content[0].image_url.url",
  ],
  [
    "Google file in a URL with a user name",
    { contents: [{ parts: [{ fileData: { fileUri: "https://x@generativelanguage.googleapis.com/v1beta/files/1" } }] }] },
    "contents[0].parts[0].fileData.fileUri",
  ],
  [
    "file in a bucket as a document",
    { messages: [{ content: [{ source: { type: "url", url: "gs://b/1" } }] }] },
    "messages[0].content[0].source.url",
  ],
  [
    "file in a bucket as an input file",
    { input: [{ content: [{ type: "input_file", file_url: "gs://b/1" }] }] },
    "input[0].content[0].file_url",
  ],
  [
    "custom skill in a shell tool",
    { tools: [{ type: "shell", environment: { type: "container_auto", skills: [{ type: "skill_reference", skill_id: "skill_1" }] } }] },
    "tools[0].environment.skills[0].skill_id",
  ],
  ["container in a member of another case", { tools: [{ type: "code_interpreter", Container: "cntr_1" }] }, "tools[0].Container"],
])("a vendor's ID is found: %s", (_what, body, field) => {
  expect(vendorIds(body)).toEqual([field]);
});

test("no vendor ID is found in public resources, in the gateway's own IDs and in tool inputs", () => {
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

test("prompt templates and cached contents are found, because they may bring tools", () => {
  expect(vendorTemplates({ prompt: { id: "p" }, cachedContent: "c" })).toEqual(["prompt", "cachedContent"]);
  expect(vendorTemplates({ prompt: "hello", cachedContent: "" })).toEqual([]);
});

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
      container: { skills: [{ type: "anthropic", skill_id: "pptx" }] },
      messages: [{ content: [{ type: "tool_use", id: "t", name: "n", input: { file_id: "a" } }] }],
      contents: [{ parts: [{ functionCall: { args: { container: "c" } } }, { fileData: { fileUri: "https://example.com/a.mp4" } }] }],
      input: [{ type: "item_reference", id: "msg_01M8QMQ98M3KA7WR8ZAMF11D7A00" }],
    }),
  ).toEqual([]);
});

test("templates are those that may bring tools", () => {
  expect(vendorTemplates({ prompt: { id: "p" }, cachedContent: "c" })).toEqual(["prompt", "cachedContent"]);
  expect(vendorTemplates({ prompt: "hello", cachedContent: "" })).toEqual([]);
});

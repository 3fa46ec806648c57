import { expect, test } from "bun:test";
import { definitionTexts } from "./definition-texts.ts";

test("integers in values of a schema are inspected and replaced as texts; bounds and identifiers are not", () => {
  const parameters = {
    type: "object",
    required: ["card"],
    properties: {
      card: { type: "integer", default: 4539148803436467, enum: [4539148803436467, 1.5], minimum: 4539148803436467, pattern: "^4539$" },
      example: { type: "string" },
    },
    $id: "https://example.com/4539148803436467",
    "x-mask": { last: [4539148803436467, "of the card"] },
  };
  const touched: string[] = [];
  const slots = definitionTexts({ tools: [{ type: "function", function: { name: "pay", parameters } }] }, ["tools"], (member) =>
    touched.push(member),
  );
  expect(slots.map(({ text }) => text)).toEqual(["4539148803436467", "4539148803436467", "4539148803436467", "of the card"]);
  for (const slot of slots) if (slot.text === "4539148803436467") slot.replace("[CARD]");
  expect(parameters).toMatchObject({
    properties: { card: { default: "[CARD]", enum: ["[CARD]", 1.5], minimum: 4539148803436467 } },
    "x-mask": { last: ["[CARD]", "of the card"] },
  });
  expect(touched).toEqual(["tools", "tools", "tools"]);
});

test("schema keywords are not inspected unless they contain words, and texts in place of a schema are", () => {
  const parameters = {
    type: "object",
    $id: "https://example.com/titan",
    required: ["titan", "First name"],
    properties: { titan: { type: "string", pattern: "^titan$" }, q: "titan", "First name": { anyOf: ["titan", { type: "string" }] } },
    items: "titan",
  };
  const tool = { type: "function", function: { name: "find", notes: ["titan"], parameters }, allowed_callers: { file_ids: ["titan"] } };
  const slots = definitionTexts({ tools: [tool] }, ["tools"], () => undefined);
  expect(slots.map(({ kind, text }) => [kind, text])).toEqual([
    ["text", "titan"],
    ["fixed_text", "First name"],
    ["text", "titan"],
    ["fixed_text", "First name"],
    ["text", "titan"],
    ["text", "titan"],
  ]);
  for (const slot of slots) slot.replace("[BANNED]");
  expect(tool.function).toMatchObject({ notes: ["[BANNED]"], parameters: { items: "[BANNED]", properties: { q: "[BANNED]" } } });
});

test("domains and names of allowed tools are inspected only if they contain words, like IDs", () => {
  const tools = [
    { type: "web_search", filters: { allowed_domains: ["titan.com"] }, blocked_domains: ["titan.org", "Tell of titan"] },
    { type: "mcp", server_label: "s", allowed_tools: ["titan"], require_approval: { never: { tool_names: ["titan"] } } },
    { google_search: { excludeDomains: ["titan.com"] }, file_search: { fileSearchStoreNames: ["fileSearchStores/titan"] } },
  ];
  expect(definitionTexts({ tools }, ["tools"], () => undefined).map(({ text }) => text)).toEqual(["Tell of titan"]);
});

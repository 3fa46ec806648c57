import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "../kernel/json-value.ts";
import type { CallerCodec } from "./conversation/codec.ts";
import { geminiCodec } from "./gemini/gemini-codec.ts";
import { messagesCodec } from "./messages/messages-codec.ts";
import { chatCodec } from "./openai/chat/codec.ts";
import { responsesCodec } from "./responses/responses-codec.ts";

/** Settings and records of what a vendor said, whose further members change nothing that another vendor could do. */
const UNREPORTED: Readonly<Record<string, RegExp>> = {
  "openai/chat": /^(?:stream_options|tool_choice.*|response_format.*|messages\.\d+\.tool_calls\.\d+\.function)$/,
  responses: /^(?:tool_choice.*|text\.format|input\.\d+|input\.\d+\.summary\.\d+|input\.\d+\.content\.\d+)$/,
  messages: /^(?:.*cache_control|output_config\.format|thinking|tool_choice)$/,
  gemini: /^(?:contents|contents\.\d+|.*thinking_?config|system_?instruction|.*function_?calling_?config)$/i,
};

/** The path of every object in a value. */
function* objectsIn(value: JsonValue, path: readonly string[] = []): Generator<readonly string[]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield path;
  for (const [name, inner] of Object.entries(value)) yield* objectsIn(inner as JsonValue, [...path, name]);
}

test.each([
  ["openai/chat", chatCodec],
  ["responses", responsesCodec],
  ["messages", messagesCodec],
  ["gemini", geminiCodec],
] as [string, CallerCodec][])("a member that a reader of %s does not know is reported, wherever it stands", (folder, codec) => {
  const fixtures = new URL(`${folder}/fixtures/`, import.meta.url);
  const silent = new Set<string>();
  let checked = 0;
  for (const file of readdirSync(fixtures).filter((name) => name.startsWith("request-"))) {
    const source = readFileSync(new URL(file, fixtures), "utf8");
    const known = JSON.stringify(codec.readRequest(JSON.parse(source) as JsonObject));
    for (const path of objectsIn(JSON.parse(source) as JsonValue)) {
      const body = JSON.parse(source) as JsonObject;
      const holder = path.reduce<JsonObject>((at, name) => at[name] as JsonObject, body);
      holder.something_new = "x";
      checked++;
      if (JSON.stringify(codec.readRequest(body)) === known && !UNREPORTED[folder]?.test(path.join("."))) silent.add(path.join("."));
    }
  }
  expect(checked).toBeGreaterThan(20);
  expect([...silent]).toEqual([]);
});

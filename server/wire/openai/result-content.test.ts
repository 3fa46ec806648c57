import { expect, test } from "bun:test";
import { DEFAULT_REQUEST } from "../conversation/default-request.ts";
import type { ToolResultPart } from "../conversation/conversation-parts.ts";
import { responsesCodec } from "../responses/responses-codec.ts";
import { chatCodec } from "./chat/codec.ts";

test.each([
  ["no such page", true, "Error: no such page"],
  ["Error: 404", true, "Error: 404"],
  ['{"error":"404"}', true, '{"error":"404"}'],
  ["", true, "Error"],
  ["no such page", false, "no such page"],
])("the tool result %j (failed: %p) is written as %j in OpenAI's formats", (text, isError, expected) => {
  const content: ToolResultPart["content"] = text === "" ? [] : [{ kind: "text", text }];
  const request = {
    ...DEFAULT_REQUEST,
    turns: [{ role: "user", parts: [{ kind: "tool_result", callId: "c", toolName: null, content, isError }] }],
  } as const;
  const target = { name: "m", maxOutputTokens: null };
  expect(chatCodec.writeRequest(request, target)).toMatchObject({ body: { messages: [{ role: "tool", content: expected }] } });
  expect(responsesCodec.writeRequest(request, target)).toMatchObject({
    body: { input: [{ type: "function_call_output", output: expected }] },
  });
});

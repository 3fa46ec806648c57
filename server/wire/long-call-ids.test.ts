import { expect, test } from "bun:test";
import { DEFAULT_REQUEST } from "./conversation/default-request.ts";
import type { ConversationRequest } from "./conversation/request.ts";
import { chatCodec } from "./openai/chat/codec.ts";
import { responsesCodec } from "./responses/responses-codec.ts";

const request = (...ids: string[]): ConversationRequest => ({
  ...DEFAULT_REQUEST,
  turns: [
    { role: "user", parts: [{ kind: "text", text: "?" }] },
    { role: "assistant", parts: ids.map((id) => ({ kind: "tool_call", id, name: "f", arguments: "{}" })) },
    { role: "user", parts: ids.map((callId) => ({ kind: "tool_result", callId, toolName: null, content: [], isError: false })) },
  ],
});

test.each([
  [chatCodec, 40],
  [responsesCodec, 64],
] as const)("tool call IDs too long for OpenAI are shortened, equally for call and result", (codec, longest) => {
  const whole = "a".repeat(longest);
  const written = codec.writeRequest(request(whole, `${whole}b`, `${whole}c`), { name: "m", maxOutputTokens: null });
  const ids = [...JSON.stringify(written).matchAll(/"(?:call_id|tool_call_id|id)":"([^"]*)"/g)].map(([, id = ""]) => id);
  expect(ids).toHaveLength(6);
  expect(ids.slice(0, 3)).toEqual(ids.slice(3));
  expect(ids[0]).toBe(whole);
  expect(new Set(ids).size).toBe(3);
  expect(ids.filter((id) => id.length > longest)).toEqual([]);
});

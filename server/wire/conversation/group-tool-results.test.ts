import { expect, test } from "bun:test";
import type { Turn } from "./request.ts";
import type { AssistantPart, TextPart, ToolResultPart, UserPart } from "./conversation-parts.ts";
import { groupToolResults } from "./group-tool-results.ts";

const text = (said: string): TextPart => ({ kind: "text", text: said });
const result = (callId: string): ToolResultPart => ({
  kind: "tool_result",
  callId,
  toolName: null,
  content: [text(callId)],
  isError: false,
});
const user = (...parts: UserPart[]): Turn => ({ role: "user", parts });
const calls: Turn = {
  role: "assistant",
  parts: ["a", "b"].map((id): AssistantPart => ({ kind: "tool_call", id, name: "f", arguments: "{}" })),
};
const system: Turn = { role: "system", parts: [text("s")] };

test.each<[string, Turn[], Turn[]]>([
  ["in one turn with other text", [calls, user(text("1"), result("a"), result("b"))], [calls, user(text("1"), result("a"), result("b"))]],
  ["in separate turns", [calls, user(result("a")), user(result("b"), text("1"))], [calls, user(result("a"), result("b")), user(text("1"))]],
  [
    "with other text and instructions in between",
    [calls, user(result("a")), user(text("1")), system, user(result("b"))],
    [calls, user(result("a"), result("b")), user(text("1")), system],
  ],
  [
    "after other text",
    [calls, user(text("1")), user(result("a"), text("2"))],
    [calls, user(result("a")), user(text("1")), user(text("2"))],
  ],
  [
    "of one step, when IDs repeat,",
    [calls, user(result("a")), calls, user(result("a")), user(result("b"))],
    [calls, user(result("a")), calls, user(result("a"), result("b"))],
  ],
])("tool results %s are grouped after their calls", (_, turns, expected) => {
  expect(groupToolResults(turns)).toEqual(expected);
});

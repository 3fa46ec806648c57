import { describe, expect, test } from "bun:test";
import { runToEnd } from "../../kernel/scheduling/in-turns.ts";
import type { InboundRequest } from "../../wire/inbound.ts";
import { readChatRequest } from "../../wire/openai/chat/request.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import { readResponsesRequest } from "../../wire/responses/responses-request.ts";
import { framingOf } from "../../road/output/frames.ts";
import { ANSWER_FORMATS } from "../../../tests/support/formats/answer-formats.ts";
import { answerGuardRun } from "../../../tests/support/formats/answer-guard-run.ts";
import { AnswerGuard } from "./answers/answer-guard.ts";

/** A number that rounds to its even neighbour as a 64-bit float. */
const ACCOUNT = "9007199254740993";
const READ_AS = "9007199254740992";
const bytes = (text: string) => new TextEncoder().encode(text);

const guardOn = (format: keyof typeof ANSWER_FORMATS, word: string) =>
  new AnswerGuard(ANSWER_FORMATS[format], answerGuardRun({ bannedWords: { action: "block", words: [word] } }));

describe.each([
  ["chat", `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"c","function":{"name":"pay","arguments":{"to":${ACCOUNT}}}}]}}]}`],
  ["responses", `{"output":[{"type":"function_call","name":"pay","arguments":[{"to":${ACCOUNT}}]}]}`],
  ["messages", `{"content":[{"type":"tool_use","id":"c","name":"pay","input":{"to":${ACCOUNT}}}]}`],
  ["gemini", `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"pay","args":{"to":${ACCOUNT}}}}]}}]}`],
] as const)("a tool call's arguments as an object (%s)", (format, json) => {
  test("are inspected with their exact digits", () => {
    for (const [word, refused] of [
      [ACCOUNT, true],
      [READ_AS, false],
    ] as const) {
      const guard = guardOn(format, word);
      runToEnd(guard.whole(replyObject(bytes(json)) as never, bytes(json)));
      expect(guard.refusal !== null).toBe(refused);
    }
  });
});

test.each([
  [
    "chat",
    "events",
    `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"pay","arguments":{"to":${ACCOUNT}}}}]}}]}\n\n`,
  ],
  [
    "messages",
    "events",
    `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"pay","input":{"to":${ACCOUNT}}}}\n\n`,
  ],
  ["gemini", "array", `[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"pay","args":{"to":${ACCOUNT}}}}]}}]}\n]`],
] as const)("a streamed call's arguments as an object are inspected and sent with their exact digits (%s)", (format, form, text) => {
  for (const [word, refused] of [
    [ACCOUNT, true],
    [READ_AS, false],
  ] as const) {
    const guard = guardOn(format, word);
    const framing = framingOf(form);
    const out = [...runToEnd(guard.frames(framing.push(bytes(text)))), ...runToEnd(guard.end())];
    expect(guard.refusal !== null).toBe(refused);
    if (!refused) expect(out.map((frame) => new TextDecoder().decode(framing.write(frame))).join("")).toContain(ACCOUNT);
  }
});

test("arguments as an object keep their digits when another value in them is redacted", () => {
  const json = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"pay","arguments":{"to":${ACCOUNT},"mail":"joe@example.com"}}}]}}]}`;
  const guard = new AnswerGuard(ANSWER_FORMATS.chat, answerGuardRun({ pii: { action: "redact" } }));
  const framing = framingOf("events");
  const out = [...runToEnd(guard.frames(framing.push(bytes(`data: ${json}\n\n`)))), ...runToEnd(guard.end())];
  expect(new TextDecoder().decode(framing.write(out[0] as never))).toBe(`data: ${json.replace("joe@example.com", "[REDACTED:email]")}\n\n`);
});

test.each([
  [
    "chat",
    readChatRequest,
    `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"pay","arguments":{"to":${ACCOUNT}}}}]},{"role":"tool","tool_call_id":"c","content":"ok"}]}`,
  ],
  [
    "responses",
    readResponsesRequest,
    `{"model":"m","input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c","name":"pay","arguments":{"to":${ACCOUNT}}},{"type":"function_call_output","call_id":"c","output":"ok"}]}`,
  ],
] as const)("the arguments of tool calls in a request are inspected with their exact digits (%s)", (_format, read, json) => {
  const request = read(bytes(json)) as InboundRequest;
  expect(request.texts().map(({ text }) => text)).toContain(`{"to":${ACCOUNT}}`);
});

import { expect, test } from "bun:test";
import { chatAnswerTexts } from "../../wire/openai/chat/answer-texts.ts";
import { CallGroup } from "./buffered-tool-calls.ts";
import { framingOf } from "./frames.ts";

const PIECES = 3_000;
const event = (n: number, piece: string, more: object = {}) =>
  `data: ${JSON.stringify({ id: "c1", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...(n === 0 && { id: "t1", function: { name: "f" } }), function: { ...(n === 0 && { name: "f" }), arguments: piece } }] } }], obfuscation: "x".repeat(n % 7), ...more })}\n\n`;

function held(events: readonly string[]): CallGroup {
  const framing = framingOf("events");
  const group = new CallGroup();
  for (const frame of framing.push(new TextEncoder().encode(events.join(""))))
    group.add(frame, chatAnswerTexts.contents(frame.body ?? {}, false).calls);
  return group;
}

/** What a client assembles from the frames sent on. */
function assembled(group: CallGroup): string {
  const framing = framingOf("events");
  const decoder = new TextDecoder();
  const frames = group.frames.flatMap((frame) => framingOf("events").push(framing.write(frame)));
  return frames
    .map(({ bytes }) => JSON.parse(decoder.decode(bytes).slice("data: ".length)))
    .map((body) => body.choices[0].delta.tool_calls[0].function.arguments)
    .join("");
}

test("frames of a long call that differ only in their piece of the arguments are merged", () => {
  const pieces = ['{"text":"', ...Array.from({ length: PIECES }, (_, n) => `${n} `), '"}'];
  const group = held(pieces.map((piece, n) => event(n, piece)));
  expect(group.frames.length).toBeLessThan(PIECES / 4);
  expect(group.tooLarge).toBe(false);
  expect(group.calls.map((call) => call.arguments)).toEqual([pieces.join("")]);
  expect(assembled(group)).toBe(pieces.join(""));
  (group.calls[0] as { rewrite(text: string): void }).rewrite('{"text":"[REDACTED]"}');
  for (const frame of group.frames) frame.changed = true;
  expect(assembled(group)).toBe('{"text":"[REDACTED]"}');
});

test("frames with other differences are not merged, and are refused when there are too many", () => {
  const few = held(Array.from({ length: PIECES }, (_, n) => event(n, "a", { usage: { total_tokens: n } })));
  expect(few.frames.length).toBe(PIECES);
  expect(few.tooLarge).toBe(false);
  expect(held(Array.from({ length: 20_000 }, (_, n) => event(n, "a", { created: n }))).tooLarge).toBe(true);
});

test("a call that starts after complete arguments at the same index is a separate call", () => {
  const long = ['{"a":"', ...Array.from({ length: 600 }, () => "b"), '"}'];
  const group = held([...long.map((piece, n) => event(n, piece)), event(0, '{"c":1}')]);
  expect(group.calls.map((call) => call.arguments)).toEqual([long.join(""), '{"c":1}']);
});

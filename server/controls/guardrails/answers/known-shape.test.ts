import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ANSWER_FORMATS } from "../../../../tests/support/formats/answer-formats.ts";
import { answerGuardRun } from "../../../../tests/support/formats/answer-guard-run.ts";
import { runToEnd } from "../../../kernel/scheduling/in-turns.ts";
import { ShapedFrame } from "../../../road/output/frame-shape.ts";
import { EventFraming, type Frame } from "../../../road/output/frames.ts";
import type { GuardSettings } from "../text-guard.ts";
import { AnswerGuard } from "./answer-guard.ts";

const SETTINGS: GuardSettings = { pii: { action: "redact" }, bannedWords: { action: "redact", words: ["titan"] } };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const json = (delta: object, beside: object = {}) => JSON.stringify({ id: "c", ...beside, choices: [{ index: 0, delta }] });
const event = (body: string) => `data: ${body}\n\n`;
const said = (content: string) => event(json({ content }));

/** What is sent of the events, which arrive one by one, and which of them were not parsed. */
function sent(events: readonly string[], usesShapes = true, settings = SETTINGS) {
  const guard = new AnswerGuard(ANSWER_FORMATS.chat, answerGuardRun(settings));
  const framing = new EventFraming(true);
  const shaped: boolean[] = [];
  const out: string[] = [];
  const write = (frames: readonly Frame[]) => {
    for (const frame of frames) out.push(decoder.decode(framing.write(frame)));
  };
  for (const one of events) {
    const frames = [...framing.reading(encoder.encode(one), usesShapes ? guard.shape : () => null)];
    shaped.push(frames[0] instanceof ShapedFrame);
    write(runToEnd(guard.frames(frames)));
  }
  write(runToEnd(guard.end()));
  return { out, shaped, refusal: guard.refusal };
}

const bodies = (events: readonly string[]) => events.map((one) => JSON.parse(one.slice(6)) as unknown);

test("frames that differ from the one before in their text alone are not parsed, and are guarded all the same", () => {
  const { out, shaped } = sent(["Ask ", "joe@exam", "ple.com", " or \u00e9\n", '"her".'].map(said));
  expect(shaped).toEqual([false, true, true, true, true]);
  const texts = bodies(out).map((body) => (body as { choices: { delta: { content: string } }[] }).choices[0]?.delta.content);
  expect(texts.join("")).toBe('Ask [REDACTED:email] or \u00e9\n"her".');
});

test("frames keep their bytes, and changed ones everything but their text", () => {
  const spaced = (content: string) => `data: {"choices": [{"delta": {"content": ${JSON.stringify(content)}}, "index": 0}], "n": 1.0}\n\n`;
  const { out, shaped } = sent(["one ", "two ", "titan ", "three "].map(spaced));
  expect(shaped).toEqual([false, true, true, true]);
  expect(out).toEqual(["one ", "two ", "[REDACTED:banned_word] ", "three "].map(spaced));
});

test("frames of one shape may have different padding, which they keep", () => {
  const padded = (content: string, obfuscation: string) =>
    event(json({ content }).replace(/\}$/, `,"obfuscation":"${obfuscation}","n":1}`));
  const events = [padded("one ", "aB3"), padded('"two" ', ""), padded("titan ", "Zz"), padded("Ask ", "joe@example.com or her")];
  const { out, shaped } = sent(events);
  expect(shaped).toEqual([false, true, true, false]);
  expect(out.slice(0, 3)).toEqual([...events.slice(0, 2), padded("[REDACTED:banned_word] ", "Zz")]);
  expect(out.join("")).not.toContain("joe@");
});

describe("a frame is parsed", () => {
  test.each([
    ["if another member differs", event(json({ content: "b " }, { note: "joe@example.com" }))],
    ["if it has a member more within its text's place", event(json({ content: 'b","reasoning":"joe@example.com' }).replaceAll('\\"', '"'))],
    ["if its text ends early", 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"b","x":"joe@example.com"}}]}\n\n'],
    ["if it has no text", said("")],
    ["if its text is not valid JSON", said("b").replace('"b"', '"b\t"')],
  ])("%s", (_, one) => {
    const { shaped, out } = sent([said("a "), said("a "), one]);
    expect(shaped).toEqual([false, true, false]);
    expect(out.join("")).not.toContain("joe@");
  });

  test("after one with something else to inspect, even if that repeats an earlier value", () => {
    const noted = (note: string) => event(json({ content: "a " }, { note }));
    const { shaped, out } = sent([noted("Ask joe"), noted("Ask joe"), noted("@example.com now"), noted("Ask joe"), noted("Ask joe")]);
    expect(shaped).toEqual([false, false, false, false, false]);
    expect(out).toEqual(sent(["Ask joe", "Ask joe", "@example.com now", "Ask joe", "Ask joe"].map(noted), false).out);
  });

  test("if another member of the same name and value comes first", () => {
    const twice = (content: string) => event(JSON.stringify({ content: "a ", choices: [{ index: 0, delta: { content } }] }));
    const { shaped, out } = sent([twice("a "), twice("a "), twice("titan ")]);
    expect(shaped).toEqual([false, false, false]);
    expect(out.join("")).not.toContain("titan");
  });

  test("when three shapes in a row were of no use", () => {
    const numbered = (_: unknown, at: number) => event(json({ content: "a " }, { created: at }));
    const { shaped } = sent([...Array.from({ length: 4 }, numbered), said("a "), said("a "), said("a ")]);
    expect(shaped).not.toContain(true);
  });
});

test("what is sent does not depend on which frames were parsed", () => {
  const text = fc.oneof(
    fc.constantFrom(
      "joe@exam",
      "ple.com ",
      "ti",
      "tan ",
      "The ",
      " ",
      '"',
      "\\",
      "\n",
      "\u2028",
      "\ud83d\ude00",
      "4539 1488",
      " 0343 6467",
      "",
    ),
    fc.string({ maxLength: 6 }),
  );
  const frame = fc.oneof(
    { weight: 8, arbitrary: text.map(said) },
    { weight: 1, arbitrary: text.map((content) => event(json({ role: "assistant", content }))) },
    { weight: 1, arbitrary: text.map((note) => event(json({ content: "so " }, { note }))) },
    { weight: 1, arbitrary: text.map((reasoning) => event(json({ reasoning }))) },
    { weight: 1, arbitrary: text.map((content) => event(JSON.stringify({ id: "c", choices: [{ index: 1, delta: { content } }] }))) },
    { weight: 1, arbitrary: fc.constant(": keep-alive\n\n") },
  );
  fc.assert(
    fc.property(fc.array(frame, { minLength: 2, maxLength: 14 }), (events) => {
      const [one, other] = [sent(events), sent(events, false)];
      expect(one.refusal).toEqual(other.refusal);
      const comparable = (out: readonly string[]) => out.map((each) => (each.startsWith("data: ") ? bodies([each])[0] : each));
      expect(comparable(one.out)).toEqual(comparable(other.out));
    }),
    { numRuns: 400 },
  );
});

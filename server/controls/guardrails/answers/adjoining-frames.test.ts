import { expect, test } from "bun:test";
import { ANSWER_FORMATS } from "../../../../tests/support/formats/answer-formats.ts";
import { answerGuardRun } from "../../../../tests/support/formats/answer-guard-run.ts";
import { runToEnd } from "../../../kernel/scheduling/in-turns.ts";
import { EventFraming } from "../../../road/output/frames.ts";
import { AnswerGuard } from "./answer-guard.ts";
import type { GuardSettings } from "../text-guard.ts";

const chunk = (index: number, content: string) =>
  `data: {"choices":[{"index":${index},"delta":{"content":${JSON.stringify(content)}}}] }\n\n`;

/** The frames sent when all of `frames` arrive in one piece, without what is released at the end. */
function passed(settings: GuardSettings, frames: readonly string[]) {
  const guard = new AnswerGuard(ANSWER_FORMATS.chat, answerGuardRun(settings));
  const framing = new EventFraming();
  const out = runToEnd(guard.frames(framing.push(new TextEncoder().encode(frames.join("")))));
  const bytes = out.map((frame) => new TextDecoder().decode(framing.write(frame)));
  const end = runToEnd(guard.end()).map((frame) => new TextDecoder().decode(framing.write(frame)));
  return { bytes, said: saidBy([...bytes, ...end]), refusal: guard.refusal };
}

const saidBy = (frames: readonly string[], choice = 0) =>
  frames
    .map((frame) => JSON.parse(frame.slice(6)).choices[0])
    .map(({ index, delta }) => (index === choice ? delta.content : ""))
    .join("");

test("frames that arrive together keep their bytes where their text is unchanged", () => {
  const frames = ["one ", "two ", "three ", "four ", "fi"].map((text) => chunk(0, text));
  const { bytes, said } = passed({ pii: { action: "redact" } }, frames);
  expect(bytes.slice(0, 4)).toEqual(frames.slice(0, 4));
  expect(said).toBe("one two three four fi");
});

test("a value split over frames that arrive together is redacted, and the number of frames stays the same", () => {
  const frames = ["Ask joe", "@exam", "ple.com", " or ", "nobody."].map((text) => chunk(0, text));
  const { bytes, said } = passed({ pii: { action: "redact" } }, frames);
  expect(bytes).toHaveLength(frames.length);
  expect(said).toBe("Ask [REDACTED:email] or nobody.");
});

test("texts of several choices are inspected separately", () => {
  const frames = [chunk(0, "joe@exam"), chunk(1, "ann@exam"), chunk(1, "ple.org, "), chunk(0, "ple.com, "), chunk(0, "done. ")];
  const { bytes } = passed({ pii: { action: "redact" } }, frames);
  expect([saidBy(bytes, 0), saidBy(bytes, 1)]).toEqual(["[REDACTED:email], done. ", "[REDACTED:email], "]);
});

test("no frame from the blocked value on is sent", () => {
  const settings: GuardSettings = { bannedWords: { action: "block", words: ["titan"] } };
  const frames = ["All of ", "us. ", "The ti", "tan ", "is here."].map((text) => chunk(0, text));
  const { bytes, refusal } = passed(settings, frames);
  expect(saidBy(bytes)).toBe("All of us. The ");
  expect(bytes).toHaveLength(3);
  expect(refusal?.code).toBe("guardrail_blocked");
});

import { expect, test } from "bun:test";
import { answerGuardRun } from "../../../../tests/support/formats/answer-guard-run.ts";
import { transcriptTexts } from "../../../wire/transcriptions/transcript-texts.ts";
import { TranscriptStream } from "../../../wire/transcriptions/transcript-stream.ts";
import { AnswerGuard } from "./answer-guard.ts";
import { GuardedStream } from "./guarded-stream.ts";
import type { GuardSettings } from "../text-guard.ts";

/** A diarized transcript in segments as the vendor streams them; values cross the segments' ends. */
const segments = (...texts: readonly string[]) => [
  ...texts.map((text, id) => ({ type: "transcript.text.segment", id: `seg_${id}`, start: id, end: id + 1, speaker: "A", text })),
  { type: "transcript.text.done", text: texts.join(" ") },
];

const TITAN: GuardSettings = { bannedWords: { action: "block", words: ["project titan"] } };

function inspected(settings: GuardSettings, sent: readonly object[]) {
  const codec = new GuardedStream(new TranscriptStream(3), new AnswerGuard(transcriptTexts, answerGuardRun(settings)), "events");
  const out: Uint8Array[] = [];
  for (const event of sent) {
    const piece = codec.push(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
    if (codec.refusal === null && piece !== null) out.push(piece);
  }
  const { last } = codec.end();
  if (codec.refusal === null && last !== null) out.push(last);
  const wire = Buffer.concat(out).toString();
  const events = wire.split("\n\n").flatMap((frame) => (frame === "" ? [] : [JSON.parse(frame.slice("data: ".length))]));
  return { refusal: codec.refusal, wire, events };
}

const saidIn = (events: readonly { type: string; text: string }[]) =>
  events
    .flatMap(({ type, text }) => (type === "transcript.text.segment" ? [text] : []))
    .join("")
    .replaceAll(/\s+/g, " ")
    .trim();

test("banned words across transcript segments are blocked before the second half is sent", () => {
  const { refusal, wire } = inspected(TITAN, segments("All about project", "titan tomorrow", "and nothing else"));
  expect(refusal?.code).toBe("guardrail_blocked");
  expect(wire).not.toMatch(/titan|nothing/);
});

test("a value across transcript segments is redacted", () => {
  const { refusal, wire, events } = inspected(
    { pii: { action: "redact", categories: ["phone"] } },
    segments("Call me at 415 555", "2671 tomorrow", "or never"),
  );
  expect(refusal).toBeNull();
  expect(wire).not.toMatch(/415|555|2671/);
  expect(saidIn(events)).toBe("Call me at [REDACTED:phone] tomorrow or never");
  expect(events.at(-1)).toEqual({ type: "transcript.text.done", text: "Call me at [REDACTED:phone] tomorrow or never" });
});

test("segments without findings keep their text, part of it moved to the next segment", () => {
  const sent = segments("Good morning", "everybody", "and good night");
  const { events } = inspected(TITAN, sent);
  expect(saidIn(events)).toBe("Good morning everybody and good night");
  expect(events.at(-1)).toEqual(sent.at(-1));
});

import { expect, test } from "bun:test";
import { writtenTranscript } from "./transcript-written.ts";

const written = (body: object, heardSeconds: number | null) =>
  writtenTranscript(new TextEncoder().encode(JSON.stringify(body)), "srt", { stream: false, audioSeconds: heardSeconds })?.body;

test("a subtitle without timestamps from the model lasts as long as the audio", () => {
  expect(written({ text: "hello" }, 7.5)).toBe("1\n00:00:00,000 --> 00:00:07,500\nhello\n\n");
  expect(written({ text: "hello", duration: 3 }, 7.5)).toBe("1\n00:00:00,000 --> 00:00:03,000\nhello\n\n");
  expect(written({ text: "hello", segments: [{ start: 1, end: 2, text: "hello" }] }, 7.5)).toBe(
    "1\n00:00:01,000 --> 00:00:02,000\nhello\n\n",
  );
});

test("subtitles contain no empty line and no arrow, also with very much whitespace", () => {
  const text = ` one --> two \r\n \n\n three${" ".repeat(1_000_000)}four`;
  expect(written({ text }, 1)?.replace(/ {9,}/, "…")).toBe("1\n00:00:00,000 --> 00:00:01,000\none -> two\nthree…four\n\n");
});

test("a complete diarized transcript is written as stream events with its segments", () => {
  const segment = { type: "transcript.text.segment", id: "seg_0", start: 0, end: 1, speaker: "A", text: "hello" };
  const body = new TextEncoder().encode(JSON.stringify({ task: "transcribe", text: "hello", segments: [segment] }));
  const events = writtenTranscript(body, "diarized_json", { stream: true, audioSeconds: 1 })?.body.split("\n\n") ?? [];
  expect(events.flatMap((event) => (event === "" ? [] : [JSON.parse(event.slice("data: ".length))]))).toEqual([
    { type: "transcript.text.delta", delta: "hello" },
    segment,
    { type: "transcript.text.done", text: "hello" },
  ]);
});

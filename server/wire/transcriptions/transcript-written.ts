import type { JsonObject } from "../document.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";
import { replyObject } from "../openai/reply-object.ts";
import type { TranscriptFormat } from "./transcription-request.ts";

interface Written {
  readonly contentType: string;
  readonly body: string;
}

/** A whole transcript in the form its caller asked for; null where it stays as it is. */
export function writtenTranscript(bytes: Uint8Array, format: TranscriptFormat, stream: boolean): Written | null {
  const body = replyObject(bytes);
  if (body === null) return null;
  // Some models know no streams and answer whole: who asked for one reads events only.
  if (stream) return { contentType: "text/event-stream", body: eventsOf(body) };
  const plain = "text/plain; charset=utf-8";
  switch (format) {
    case "text":
      return { contentType: plain, body: `${filledOf(body.text) ?? ""}\n` };
    case "srt":
      return { contentType: plain, body: cues(body, (at, from, to) => `${at}\n${stamp(from, ",")} --> ${stamp(to, ",")}`) };
    case "vtt":
      return { contentType: plain, body: `WEBVTT\n\n${cues(body, (_at, from, to) => `${stamp(from, ".")} --> ${stamp(to, ".")}`)}` };
    default:
      return null;
  }
}

function eventsOf({ text, usage }: JsonObject): string {
  const said = filledOf(text) ?? "";
  const events = [
    { type: "transcript.text.delta", delta: said },
    { type: "transcript.text.done", text: said, ...(usage === undefined ? {} : { usage }) },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

function cues(body: JsonObject, head: (at: number, from: number, to: number) => string): string {
  const given = [...objectsOf(body.segments)].map(([segment]) => segment);
  const all = given.length > 0 ? given : [{ start: 0, end: body.duration, text: body.text } as JsonObject];
  return all
    .map(({ start, end, text }, at) => {
      const from = seconds(start);
      // An arrow or an empty line in what was said would begin a cue of its own.
      const said = (filledOf(text) ?? "")
        .trim()
        .replaceAll("-->", "->")
        .replace(/\s*\n\s*/g, "\n");
      return `${head(at + 1, from, Math.max(from, seconds(end)))}\n${said}\n\n`;
    })
    .join("");
}

function seconds(value: unknown): number {
  const told = Number(value ?? 0);
  return Number.isFinite(told) && told > 0 ? told : 0;
}

function stamp(value: number, fraction: "," | "."): string {
  const millis = Math.round(value * 1000);
  const two = (part: number) => String(part).padStart(2, "0");
  const whole = Math.floor(millis / 1000);
  return `${two(Math.floor(whole / 3600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${fraction}${String(millis % 1000).padStart(3, "0")}`;
}

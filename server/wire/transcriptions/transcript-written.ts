import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";
import { replyObject } from "../openai/reply-object.ts";
import { subtitleCues, subtitleTime } from "./subtitle-cues.ts";
import type { TranscriptFormat } from "./transcription-request.ts";

interface Written {
  readonly contentType: string;
  readonly body: string;
}

/**
 * Converts a complete transcript to the requested format; null if it stays unchanged. `heardSeconds` is the measured
 * duration of the audio.
 */
export function writtenTranscript(
  bytes: Uint8Array,
  format: TranscriptFormat,
  { stream, audioSeconds }: { readonly stream: boolean; readonly audioSeconds: number | null },
): Written | null {
  const body = replyObject(bytes);
  if (body === null) return null;
  // Some models cannot stream, but a caller that requested a stream can only read events.
  if (stream) return { contentType: "text/event-stream", body: eventsOf(body) };
  const plain = "text/plain; charset=utf-8";
  switch (format) {
    case "text":
      return { contentType: plain, body: `${filledOf(body.text) ?? ""}\n` };
    case "srt":
      return {
        contentType: plain,
        body: subtitleCues(body, audioSeconds, (at, from, to) => `${at}\n${subtitleTime(from, ",")} --> ${subtitleTime(to, ",")}`),
      };
    case "vtt":
      return {
        contentType: plain,
        body: `WEBVTT\n\n${subtitleCues(body, audioSeconds, (_at, from, to) => `${subtitleTime(from, ".")} --> ${subtitleTime(to, ".")}`)}`,
      };
    default:
      return null;
  }
}

function eventsOf({ text, usage, segments }: JsonObject): string {
  const transcript = filledOf(text) ?? "";
  const events = [
    { type: "transcript.text.delta", delta: transcript },
    // In a diarized transcript, segments already have the form of events.
    ...objectsOf(segments).flatMap(([segment]) => (segment.type === "transcript.text.segment" ? [segment] : [])),
    { type: "transcript.text.done", text: transcript, ...(usage === undefined ? {} : { usage }) },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

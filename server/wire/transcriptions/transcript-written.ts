import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";
import { replyObject } from "../openai/reply-object.ts";
import { subtitleCues, subtitleTime } from "./subtitle-cues.ts";
import type { TranscriptFormat } from "./transcription-request.ts";

interface Written {
  readonly contentType: string;
  readonly body: string;
}

/** A whole transcript in the form its caller asked for; null where it stays as it is. `heardSeconds`: how long the sound was found to be. */
export function writtenTranscript(
  bytes: Uint8Array,
  format: TranscriptFormat,
  { stream, heardSeconds }: { readonly stream: boolean; readonly heardSeconds: number | null },
): Written | null {
  const body = replyObject(bytes);
  if (body === null) return null;
  // Some models know no streams and answer whole: who asked for one reads events only.
  if (stream) return { contentType: "text/event-stream", body: eventsOf(body) };
  const plain = "text/plain; charset=utf-8";
  switch (format) {
    case "text":
      return { contentType: plain, body: `${filledOf(body.text) ?? ""}\n` };
    case "srt":
      return {
        contentType: plain,
        body: subtitleCues(body, heardSeconds, (at, from, to) => `${at}\n${subtitleTime(from, ",")} --> ${subtitleTime(to, ",")}`),
      };
    case "vtt":
      return {
        contentType: plain,
        body: `WEBVTT\n\n${subtitleCues(body, heardSeconds, (_at, from, to) => `${subtitleTime(from, ".")} --> ${subtitleTime(to, ".")}`)}`,
      };
    default:
      return null;
  }
}

function eventsOf({ text, usage, segments }: JsonObject): string {
  const said = filledOf(text) ?? "";
  const events = [
    { type: "transcript.text.delta", delta: said },
    // Where a transcript tells who speaks, its segments are events as they are.
    ...objectsOf(segments).flatMap(([segment]) => (segment.type === "transcript.text.segment" ? [segment] : [])),
    { type: "transcript.text.done", text: said, ...(usage === undefined ? {} : { usage }) },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";

/**
 * The segments of a transcript, each after its `head`. Without segments, a single cue lasts as long as the audio, because
 * a cue of zero length would never be shown.
 */
export function subtitleCues(
  body: JsonObject,
  audioSeconds: number | null,
  head: (at: number, from: number, to: number) => string,
): string {
  const given = objectsOf(body.segments).map(([segment]) => segment);
  const all = given.length > 0 ? given : [{ start: 0, end: body.duration ?? audioSeconds, text: body.text } as JsonObject];
  return all
    .map(({ start, end, text }, at) => {
      const from = seconds(start);
      // An arrow or an empty line in the text would start a new cue.
      const cueText = (filledOf(text) ?? "")
        .replaceAll("-->", "->")
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .join("\n");
      return `${head(at + 1, from, Math.max(from, seconds(end)))}\n${cueText}\n\n`;
    })
    .join("");
}

function seconds(value: unknown): number {
  const reportedCount = Number(value ?? 0);
  return Number.isFinite(reportedCount) && reportedCount > 0 ? reportedCount : 0;
}

export function subtitleTime(value: number, fraction: "," | "."): string {
  const millis = Math.round(value * 1000);
  const two = (part: number) => String(part).padStart(2, "0");
  const whole = Math.floor(millis / 1000);
  return `${two(Math.floor(whole / 3600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${fraction}${String(millis % 1000).padStart(3, "0")}`;
}

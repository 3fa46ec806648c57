import { isObject } from "../../kernel/json-value.ts";
import { filledOf, numberOf, objectOf, stringOf } from "../openai/loose-fields.ts";
import { videoFrameOf, type FrameSize } from "./resolution.ts";
import { failedReading, RUNNING, type VideoRequested, type VideoCodec, type VideoJobState } from "./video-codec.ts";

const segment = (id: string) => encodeURIComponent(id);

/** POST /videos and its jobs, as formerly at OpenAI and at compatible servers. */
export const openaiVideos: VideoCodec = {
  operation: "videos",
  usualSeconds: 4,
  form: true,
  sources: { remix: "job", edit: "job", extension: "job" },
  write: (requested, modelName) => {
    if (requested.source !== null) return writtenOf(requested, requested.source);
    const fields = openaiVideoFields(requested);
    return "unsupported" in fields ? fields : { body: JSON.stringify({ model: modelName, ...fields.fields }), dropped: [] };
  },
  accepted: (answer) => (isObject(answer) ? filledOf(answer.id) : null),
  ask: (id) => ({ method: "GET", path: `/videos/${segment(id)}` }),
  cancel: (id) => ({ method: "DELETE", path: `/videos/${segment(id)}` }),
  read(answer, id) {
    if (!isObject(answer)) return null;
    const status = stringOf(answer.status);
    if (status === null) return null;
    const progress = numberOf(answer.progress);
    const reading: VideoJobState = { ...RUNNING, progress: progress === null ? null : Math.max(0, Math.min(100, Math.round(progress))) };
    if (status === "queued") return { ...reading, state: "queued" };
    if (status === "completed")
      return {
        ...reading,
        state: "completed",
        seconds: secondsOf(answer.seconds),
        output: { kind: "ask", ask: { method: "GET", path: `/videos/${segment(id)}/content` } },
      };
    if (status === "cancelled" || status === "canceled") return { ...reading, state: "cancelled" };
    if (status !== "failed") return reading;
    const error = objectOf(answer.error);
    return failedReading(filledOf(error?.code) ?? "upstream_failed", filledOf(error?.message) ?? "The provider made no video.");
  },
};

/** A derived video: a JSON request, with its own URL for each kind of derivation. */
function writtenOf(
  { prompt, seconds, negativePrompt, seed, others }: VideoRequested,
  { as, upstreamId }: NonNullable<VideoRequested["source"]>,
) {
  const dropped = [...(negativePrompt === null ? [] : ["negative_prompt"]), ...(seed === null ? [] : ["seed"]), ...others];
  const video = { id: upstreamId };
  switch (as) {
    case "remix":
      return { body: JSON.stringify({ prompt }), dropped, to: { operation: "video_remix", of: upstreamId } } as const;
    case "edit":
      return { body: JSON.stringify({ prompt, video }), dropped, to: { operation: "video_edits" } } as const;
    case "extension":
      return { body: JSON.stringify({ prompt, seconds: String(seconds), video }), dropped, to: { operation: "video_extensions" } } as const;
  }
}

/** A string in this format. */
function secondsOf(value: unknown): number | null {
  const seconds = typeof value === "string" && /^\d{1,5}(\.\d+)?$/.test(value) ? Number(value) : numberOf(value);
  return seconds === null || seconds <= 0 ? null : seconds;
}

const writtenSize = ({ width, height }: FrameSize) => `${width}x${height}`;

/** The fields in OpenAI's form; a resolution without an equivalent size is sent by name. */
export function openaiVideoFields(
  requested: Pick<VideoRequested, "prompt" | "seconds" | "resolution" | "aspect">,
): { readonly fields: Record<string, string> } | { readonly unsupported: { readonly field: string; readonly message: string } } {
  const { prompt, seconds, resolution, aspect } = requested;
  const frame = resolution === null ? null : videoFrameOf(resolution, aspect);
  if (resolution !== null && frame === null)
    return { unsupported: { field: "resolution", message: "must be a size (1280x720) or lines (720p) for this model's provider" } };
  return { fields: { prompt, ...(seconds !== null && { seconds: String(seconds) }), ...(frame !== null && { size: writtenSize(frame) }) } };
}

import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectOf } from "../openai/loose-fields.ts";
import { aspectOf, frameSizeOf, linesOf } from "./resolution.ts";
import { failedReading, RUNNING, type VideoRequested, type VideoCodec } from "./video-codec.ts";

const SECONDS = 6;
const FORMATS: Readonly<Record<string, string>> = { "image/png": "png", "image/jpeg": "jpeg" };

/** Nova Reel on Bedrock: an asynchronous invocation that is polled, and stores its video in a bucket. */
export const novaReelVideos: VideoCodec = {
  operation: "bedrock_async",
  usualSeconds: SECONDS,
  sources: {},
  form: false,
  write(requested, modelId, storage) {
    if (storage === null)
      return {
        unsupported: { field: "model", message: "needs the bucket that its provider leaves videos in: its storage_uri is not set" },
      };
    const problem = problemOf(requested);
    if (problem !== null) return { unsupported: problem };
    const { prompt, seed, reference, negativePrompt, others } = requested;
    const images = reference === null ? null : [{ format: FORMATS[reference.mimeType] as string, source: { bytes: reference.base64 } }];
    const modelInput: JsonObject = {
      taskType: "TEXT_VIDEO",
      textToVideoParams: { text: prompt, ...(images !== null && { images }) },
      videoGenerationConfig: { durationSeconds: SECONDS, fps: 24, dimension: "1280x720", ...(seed !== null && { seed }) },
    };
    const body = JSON.stringify({ modelId, modelInput, outputDataConfig: { s3OutputDataConfig: { s3Uri: storage } } });
    return { body, dropped: [...(negativePrompt === null ? [] : ["negative_prompt"]), ...others] };
  },
  accepted: (answer) => (isObject(answer) ? filledOf(answer.invocationArn) : null),
  ask: (id) => ({ method: "GET", path: `/async-invoke/${encodeURIComponent(id)}` }),
  cancel: () => null,
  read(answer, id) {
    if (!isObject(answer) || filledOf(answer.status) === null) return null;
    if (answer.status === "Failed") return failedReading("upstream_failed", filledOf(answer.failureMessage) ?? "The provider failed.");
    if (answer.status !== "Completed") return RUNNING;
    const address = filledOf(objectOf(objectOf(answer.outputDataConfig)?.s3OutputDataConfig)?.s3Uri)?.replace(/\/+$/, "");
    if (address?.startsWith("s3://") !== true) return failedReading("no_video", "The provider does not say where the video is.");
    // The location reported for a finished job may already include its own folder.
    const name = id.split("/").at(-1) as string;
    const folder = address.endsWith(`/${name}`) ? address : `${address}/${name}`;
    return { ...RUNNING, state: "completed", output: { kind: "ask", ask: { method: "GET", path: `${folder}/output.mp4` } } };
  },
};

/** Only one length and one size are supported. */
function problemOf({
  seconds,
  resolution,
  aspect,
  reference,
}: VideoRequested): { readonly field: string; readonly message: string } | null {
  if (seconds !== null && seconds !== SECONDS)
    return { field: "duration_seconds", message: `must be ${SECONDS} for this model's provider` };
  const size = resolution === null ? null : frameSizeOf(resolution);
  const isSize = size === null ? resolution === null || linesOf(resolution) === 720 : size.width === 1280 && size.height === 720;
  if (!isSize) return { field: "resolution", message: "must be 720p or 1280x720 for this model's provider" };
  if (aspect !== null && aspect !== aspectOf({ width: 1280, height: 720 }))
    return { field: "aspect_ratio", message: "must be 16:9 for this model's provider" };
  if (reference !== null && FORMATS[reference.mimeType] === undefined)
    return { field: "input_reference", message: "must be a PNG or JPEG picture for this model's provider" };
  return null;
}

import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { filledOf, looseListOf, objectOf, objectsOf, wholeOf } from "../openai/loose-fields.ts";
import { aspectOf, frameSizeOf, linesOf } from "./resolution.ts";
import { failedReading, RUNNING, type VideoCodec } from "./video-codec.ts";

/** Veo on Vertex AI: an operation that is polled, and returns the video or its location in a bucket. */
export const veoVideos: VideoCodec = {
  operation: "veo",
  usualSeconds: 8,
  form: false,
  sources: { extension: "bytes" },
  write({ prompt, seconds, resolution, aspect, negativePrompt, seed, reference, others, source }, _modelName, storage) {
    const size = resolution === null ? null : frameSizeOf(resolution);
    const lines = resolution === null ? null : linesOf(resolution);
    if (resolution !== null && lines === null)
      return { unsupported: { field: "resolution", message: "must be lines (720p), 4k or a size for this model's provider" } };
    if (seconds !== null && !Number.isInteger(seconds))
      return {
        unsupported: {
          field: source === null ? "duration_seconds" : "seconds",
          message: "must be whole seconds for this model's provider",
        },
      };
    const shown = source?.shown ?? null;
    const ratio = aspect ?? (size === null ? null : aspectOf(size));
    const instance: JsonObject = {
      prompt,
      ...(reference !== null && { image: { bytesBase64Encoded: reference.base64, mimeType: reference.mimeType } }),
      ...(shown !== null && { video: { bytesBase64Encoded: shown.base64, mimeType: shown.mimeType } }),
    };
    const parameters: JsonObject = {
      sampleCount: 1,
      ...(seconds !== null && { durationSeconds: seconds }),
      // An extension has the size of its source.
      ...(lines !== null && source === null && { resolution: lines === 2160 ? "4k" : `${lines}p` }),
      ...(ratio !== null && source === null && { aspectRatio: ratio }),
      ...(negativePrompt !== null && { negativePrompt }),
      ...(seed !== null && { seed }),
      ...(storage !== null && { storageUri: storage }),
    };
    return { body: JSON.stringify({ instances: [instance], parameters }), dropped: others };
  },
  accepted: (answer) => (isObject(answer) ? filledOf(answer.name) : null),
  ask: (id) => ({ method: "POST", path: ":fetchPredictOperation", body: JSON.stringify({ operationName: id }) }),
  cancel: () => null,
  read(answer) {
    if (!isObject(answer) || filledOf(answer.name) === null) return null;
    if (answer.done !== true) return RUNNING;
    const error = objectOf(answer.error);
    if (error !== null)
      return failedReading(`upstream_${wholeOf(error.code) ?? "failed"}`, filledOf(error.message) ?? "The provider failed.");
    const response = objectOf(answer.response) ?? {};
    for (const [video] of objectsOf(response.videos)) {
      const base64 = filledOf(video.bytesBase64Encoded);
      if (base64 !== null) return { ...RUNNING, state: "completed", output: { kind: "bytes", base64 } };
      const address = filledOf(video.gcsUri);
      if (address?.startsWith("gs://") === true)
        return { ...RUNNING, state: "completed", output: { kind: "ask", ask: { method: "GET", path: address } } };
    }
    const reasons = looseListOf(response.raiMediaFilteredReasons).filter((reason) => typeof reason === "string");
    return failedReading("content_filtered", reasons.length === 0 ? "The provider made no video." : reasons.join(" "));
  },
};

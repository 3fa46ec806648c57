import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { filledOf, objectOf, objectsOf, stringOf } from "../openai/loose-fields.ts";
import { count, plausibleUsage, type Usage } from "../usage.ts";
import { aspectOf, frameSizeOf, linesOf } from "./resolution.ts";
import { failedReading, RUNNING, type VideoCodec, type VideoOutput } from "./video-codec.ts";

const ENDED_BADLY = new Set(["failed", "incomplete", "budget_exceeded"]);

/** Videos of Google's Interactions API, the only API of its newer models. */
export const interactionsVideos: VideoCodec = {
  operation: "gemini_interactions",
  usualSeconds: 8,
  form: false,
  sources: { remix: "job", edit: "job" },
  write({ prompt, seconds, resolution, aspect, negativePrompt, seed, reference, others, source }, model) {
    const dropped = [...(negativePrompt === null ? [] : ["negative_prompt"]), ...(seed === null ? [] : ["seed"]), ...others];
    if (source !== null) {
      const fields = { previous_interaction_id: source.upstreamId, response_format: { type: "video", delivery: "uri" } };
      return { body: JSON.stringify({ model, input: prompt, background: true, ...fields }), dropped };
    }
    const size = resolution === null ? null : frameSizeOf(resolution);
    const lines = resolution === null ? null : linesOf(resolution);
    if (resolution !== null && lines === null)
      return { unsupported: { field: "resolution", message: "must be lines (720p), 4k or a size for this model's provider" } };
    const ratio = aspect ?? (size === null ? null : aspectOf(size));
    const responseFormat: JsonObject = {
      type: "video",
      delivery: "uri",
      ...(lines !== null && { resolution: lines === 2160 ? "4k" : `${lines}p` }),
      ...(seconds !== null && { duration: `${seconds}s` }),
      ...(ratio !== null && { aspect_ratio: ratio }),
    };
    const text: JsonObject = { type: "text", text: prompt };
    const input: JsonValue = reference === null ? prompt : [{ type: "image", data: reference.base64, mime_type: reference.mimeType }, text];
    return { body: JSON.stringify({ model, input, background: true, response_format: responseFormat }), dropped };
  },
  accepted: (answer) => (isObject(answer) ? filledOf(answer.id) : null),
  ask: (id) => ({ method: "GET", path: `/interactions/${encodeURIComponent(id)}` }),
  cancel: (id) => ({ method: "POST", path: `/interactions/${encodeURIComponent(id)}/cancel`, body: "{}" }),
  read(answer) {
    if (!isObject(answer)) return null;
    const status = stringOf(answer.status)?.toLowerCase() ?? null;
    if (status === null) return null;
    const usage = usageOf(objectOf(answer.usage));
    if (status === "queued") return { ...RUNNING, state: "queued" };
    if (status === "cancelled" || status === "canceled") return { ...RUNNING, state: "cancelled", usage };
    if (ENDED_BADLY.has(status)) return { ...failureOf(answer, status), usage };
    if (status !== "completed") return RUNNING;
    const output = outputOf(answer);
    if (output === null) return { ...failedReading("no_video", wordsIn(answer) ?? "The provider made no video."), usage };
    return { ...RUNNING, state: "completed", output, usage };
  },
};

function failureOf(answer: JsonObject, status: string) {
  const [first] = objectsOf(answer.errors).map(([error]) => error);
  const error = first ?? objectOf(answer.error);
  const code = filledOf(error?.code) ?? filledOf(error?.status) ?? (status === "failed" ? "upstream_failed" : status);
  return failedReading(code, filledOf(error?.message) ?? wordsIn(answer) ?? "The provider made no video.");
}

/** The video of an interaction: either at the top level or in its last step. */
function outputOf(answer: JsonObject): VideoOutput | null {
  const found = [
    objectOf(answer.output_video),
    ...contentsOf(answer)
      .filter(({ type }) => type === "video")
      .toReversed(),
  ];
  for (const video of found) {
    const uri = filledOf(video?.uri);
    if (uri !== null) return { kind: "ask", ask: { method: "GET", path: uri } };
    const data = filledOf(video?.data);
    if (data !== null) return { kind: "bytes", base64: data };
  }
  return null;
}

function contentsOf(answer: JsonObject): JsonObject[] {
  const steps = [...objectsOf(answer.steps), ...objectsOf(answer.outputs)].map(([step]) => step);
  return steps.flatMap((step) => [step, ...objectsOf(step.content).map(([content]) => content)]);
}

/** The text returned instead of a video. */
function wordsIn(answer: JsonObject): string | null {
  const words = contentsOf(answer).flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  return filledOf(answer.output_text) ?? (words.length === 0 ? null : words.join(" "));
}

function usageOf(usage: JsonObject | null): Usage | null {
  if (usage === null || (usage.total_input_tokens === undefined && usage.total_output_tokens === undefined)) return null;
  const input = count(usage.total_input_tokens);
  const thoughts = count(usage.total_thought_tokens);
  const given = count(usage.total_output_tokens);
  const cacheRead = Math.min(count(usage.total_cached_tokens), input);
  const of = (name: string, modality: string) =>
    objectsOf(usage[name]).reduce((sum, [one]) => sum + (stringOf(one.modality)?.toLowerCase() === modality ? count(one.tokens) : 0), 0);
  return plausibleUsage({
    inputUncached: input - cacheRead + objectsOf(usage.tool_use_tokens_by_modality).reduce((sum, [one]) => sum + count(one.tokens), 0),
    cacheRead,
    cacheWrite: 0,
    cacheWriteHour: 0,
    output: given + thoughts,
    reasoning: thoughts,
    imageInput: Math.min(of("input_tokens_by_modality", "image"), input - cacheRead),
    videoOutput: Math.min(of("output_tokens_by_modality", "video"), given),
    estimated: false,
  });
}

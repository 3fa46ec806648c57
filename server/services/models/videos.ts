import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Attempt } from "../../road/call.ts";
import type { JsonValue } from "../../wire/document.ts";
import { readUpTo } from "../../wire/read-up-to.ts";
import { NOTHING_SENT } from "../../wire/sent-settings.ts";
import type { Usage } from "../../wire/usage.ts";
import { isSameResolution } from "../../wire/videos/resolution.ts";
import type { VideoAsked, VideoCodec } from "../../wire/videos/video-codec.ts";
import type { VideosRequest } from "../../wire/videos/videos-request.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { type AttemptParts, providerOf } from "./attempt.ts";
import type { ModelRequest, PreparedRequest } from "./model-request.ts";

/** A job that is about to be given to a provider. */
export interface VideoSubmission {
  /** Writes it down before the provider is asked, so that no process can lose it or ask twice; a refusal: it could not be. */
  leaving(model: ModelEntry, usualSeconds: number | null): Promise<Refusal | null>;
  /** The provider may have begun it and nobody heard: nobody may be asked again. */
  unsure(): void;
}

const NOTHING_YET: Usage = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** A video by a model of any provider that has such models. The answer, `{id}`, is the provider's own name of the job it began. */
export function videosModelRequest(
  request: VideosRequest,
  submission: VideoSubmission,
  providers: AttemptParts["providers"],
): ModelRequest {
  return {
    inputCharacters: request.inputCharacters,
    lastTry(told) {
      const unsure = mayHaveBegun(told);
      if (unsure) submission.unsure();
      return unsure;
    },
    async prepare(_call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      const codec = provider.traits.videos?.(model) ?? null;
      if (codec === null || provider.ask === undefined)
        return refuse("unsupported_parameter", `No videos are served for this model's provider.`);
      const problem = attributeProblem(request, model);
      if (problem !== null) return refuse("unsupported_parameter", undefined, { fields: [problem] });
      const prepared = await written(request, model, codec);
      if (isRefusal(prepared)) return prepared;
      return (await submission.leaving(model, codec.usualSeconds)) ?? prepared;
    },
  };
}

async function written(request: VideosRequest, model: ModelEntry, codec: VideoCodec): Promise<PreparedRequest | Refusal> {
  const sent = codec.write(request.asked(codec.form ? null : await shownIn(request)), model.modelName, model.provider.storage?.uri ?? null);
  if ("unsupported" in sent) return refuse("unsupported_parameter", undefined, { fields: [sent.unsupported] });
  const outbound = { model: model.modelName };
  return {
    operation: codec.operation,
    body: codec.form ? request.outbound(outbound) : sent.body,
    ...(codec.form && { form: request.form(outbound) }),
    stream: false,
    sent: NOTHING_SENT,
    headers: {},
    streamCodec: () => null,
    streamType: null,
    outlivesCaller: true,
    whole(bytes) {
      const id = codec.accepted(jsonOf(bytes));
      return id === null ? null : { body: new TextEncoder().encode(JSON.stringify({ id })), usage: NOTHING_YET, outputCharacters: 0 };
    },
    refusal: codec.form ? () => null : (status) => new TextEncoder().encode(JSON.stringify({ error: refusedAs(status) })),
    dropped: codec.form ? [] : sent.dropped,
  };
}

function refusedAs(status: number): object {
  const message = `The model's provider refused the request (HTTP ${status}).`;
  return { message, type: "invalid_request_error", param: null, code: null };
}

async function shownIn({ reference }: VideosRequest): Promise<VideoAsked["reference"]> {
  if (reference === null) return null;
  const bytes = await readUpTo(reference.open(), reference.bytes);
  return { mimeType: reference.mimeType, base64: Buffer.from(bytes ?? new Uint8Array(0)).toString("base64") };
}

function jsonOf(bytes: Uint8Array): JsonValue {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as JsonValue;
  } catch {
    return null;
  }
}

/** Statuses with which a server says that it took nothing on, beside those that say what was wrong with the request. */
const TURNED_AWAY: ReadonlySet<number> = new Set([501, 503, 529]);
/** What ended an attempt before anything left. */
const NEVER_LEFT: ReadonlySet<string> = new Set([
  "upstream_address_denied",
  "model_mode_mismatch",
  "audit_unavailable",
  "upstream_auth_failed",
]);

function mayHaveBegun({ outcome, status }: Attempt): boolean {
  if (status === null) return !NEVER_LEFT.has(outcome);
  return status < 300 || status === 408 || (status >= 500 && !TURNED_AWAY.has(status));
}

/** What of the request the model's record does not allow. */
function attributeProblem(
  { resolution, seconds, body }: VideosRequest,
  {
    supportedVideoResolutions: resolutions = [],
    supportedVideoDurations: durations = [],
    maxVideoDurationSeconds: longest = null,
  }: ModelEntry,
): { readonly field: string; readonly message: string } | null {
  if (resolution !== null && resolutions.length > 0 && !resolutions.some((token) => isSameResolution(token, resolution)))
    return { field: "size" in body ? "size" : "resolution", message: `must be one of ${resolutions.join(", ")} for this model` };
  const field = "seconds" in body ? "seconds" : "duration_seconds";
  if (seconds !== null && durations.length > 0 && !durations.includes(seconds))
    return { field, message: `must be one of ${durations.join(", ")} for this model` };
  return seconds !== null && longest !== null && seconds > longest ? { field, message: `must be at most ${longest} for this model` } : null;
}

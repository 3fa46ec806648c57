import { isRefusal, type Refusal, refuse } from "../../../kernel/errors.ts";
import type { MediaFile } from "../../../kernel/files/media-file.ts";
import type { Attempt, Call } from "../../../road/call.ts";
import type { JsonValue } from "../../../kernel/json-value.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import type { Usage } from "../../../wire/usage.ts";
import { isSameResolution } from "../../../wire/videos/resolution.ts";
import type { VideoRequested, VideoCodec } from "../../../wire/videos/video-codec.ts";
import type { FilmedBefore, VideosRequest } from "../../../wire/videos/videos-request.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { providerOf } from "../routing/attempt.ts";
import { inBase64, type ShownFile, type ShownParts } from "../media/shown-files.ts";
import type { ModelRequest, PreparedRequest } from "./model-request.ts";
import { refusedByProvider } from "../routing/refused-by-provider.ts";

/** Callbacks while a job is submitted to a provider. */
export interface VideoSubmission {
  /** Stores the job before the provider is called, so that it is neither lost nor submitted twice. A refusal if that failed. */
  leaving(model: ModelEntry, usualSeconds: number | null): Promise<Refusal | null>;
  /** Called if the provider may have started the job without confirming it; nobody may be asked again. */
  unsure(): void;
}

/** For a picture in a JSON body, as providers take that accept no form. */
const MAX_SHOWN_BYTES = 20 * 1024 * 1024;

const NOTHING_YET: Usage = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** A video, for any provider with such models. The answer is `{id}`: the provider's ID of the job that was started. */
export function videosModelRequest(request: VideosRequest, submission: VideoSubmission, { providers, room }: ShownParts): ModelRequest {
  return {
    // Nothing is metered for the submission; usage is metered when the job ends.
    inputCharacters: 0,
    lastTry(attempt) {
      const unsure = mayHaveBegun(attempt);
      if (unsure) submission.unsure();
      return unsure;
    },
    async prepare(call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      const codec = provider.traits.videos?.(model) ?? null;
      if (codec === null || provider.ask === undefined)
        return refuse("unsupported_parameter", `No videos are served for this model's provider.`);
      const problem = attributeProblem(request, model);
      if (problem !== null) return refuse("unsupported_parameter", undefined, { fields: [problem] });
      const prepared = await written(call, request, model, codec, room);
      if (isRefusal(prepared)) return prepared;
      return (await submission.leaving(model, codec.usualSeconds)) ?? prepared;
    },
  };
}

async function written(
  call: Call,
  request: VideosRequest,
  model: ModelEntry,
  codec: VideoCodec,
  room: ShownParts["room"],
): Promise<PreparedRequest | Refusal> {
  room.release(call);
  const show = async (file: MediaFile) => {
    const shown = await inBase64(call, [file], room);
    return isRefusal(shown) ? shown : (shown[0] as ShownFile);
  };
  const source = request.source === null ? null : await sourceFor(request.source, model, codec, show);
  if (source !== null && isRefusal(source)) return source;
  const asIs = codec.form && source === null;
  // Checked before the file is read, because it may not fit into memory.
  if (!asIs && (request.reference?.bytes ?? 0) > MAX_SHOWN_BYTES)
    return refuse("unsupported_parameter", undefined, {
      fields: [{ field: "input_reference", message: "is larger than 20 MiB, which is all this model's provider takes" }],
    });
  const reference = asIs || request.reference === null ? null : await show(request.reference);
  if (reference !== null && isRefusal(reference)) return reference;
  const sent = codec.write(request.requested(reference, source), model.modelName, model.provider.storage?.uri ?? null);
  if ("unsupported" in sent) return refuse("unsupported_parameter", undefined, { fields: [sent.unsupported] });
  const outbound = { model: model.modelName };
  return {
    operation: codec.operation,
    ...sent.to,
    body: asIs ? request.outbound(outbound) : sent.body,
    ...(asIs && { form: request.form(outbound) }),
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
    refusal: codec.form ? () => null : refusedByProvider,
    dropped: asIs ? [] : sent.dropped,
  };
}

const MADE: Readonly<Record<FilmedBefore["as"], string>> = { remix: "remixes", edit: "edits", extension: "extensions" };

/** The source video of a new one, as the provider needs it. */
async function sourceFor(
  source: FilmedBefore,
  model: ModelEntry,
  codec: VideoCodec,
  show: (file: MediaFile) => Promise<ShownFile | Refusal>,
): Promise<NonNullable<VideoRequested["source"]> | Refusal> {
  const { as, field, upstreamId } = source;
  const derivedCodec = codec.sources[as];
  const unsupported = (message: string) => refuse("unsupported_parameter", undefined, { fields: [{ field, message }] });
  if (derivedCodec === undefined) return unsupported(`names a video of which this model's provider makes no ${MADE[as]}`);
  if (model.provider.providerKey !== source.providerKey) return unsupported("names a video that its model's provider did not make");
  if (derivedCodec === "job") return { as, upstreamId, shown: null };
  const file = await source.open();
  if (isRefusal(file)) return file;
  const shown = await show(file);
  return isRefusal(shown) ? shown : { as, upstreamId, shown };
}

function jsonOf(bytes: Uint8Array): JsonValue {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as JsonValue;
  } catch {
    return null;
  }
}

/** Server errors that mean the request was not accepted. */
const TURNED_AWAY: ReadonlySet<number> = new Set([501, 503, 529]);
/** Outcomes of attempts that failed before anything was sent. */
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

/** An attribute of the request that the model's record does not allow; null if there is none. */
function attributeProblem(
  { resolution, seconds, body, source }: VideosRequest,
  {
    supportedVideoResolutions: resolutions = [],
    supportedVideoDurations: durations = [],
    maxVideoDurationSeconds: longest = null,
  }: ModelEntry,
): { readonly field: string; readonly message: string } | null {
  // A video made from another has its size, and vendors have other limits on its length.
  if (source !== null)
    return source.as === "extension" && seconds !== null && longest !== null && seconds > longest
      ? { field: "seconds", message: `must be at most ${longest} for this model` }
      : null;
  if (resolution !== null && resolutions.length > 0 && !resolutions.some((token) => isSameResolution(token, resolution)))
    return { field: "size" in body ? "size" : "resolution", message: `must be one of ${resolutions.join(", ")} for this model` };
  const field = "seconds" in body ? "seconds" : "duration_seconds";
  if (seconds !== null && durations.length > 0 && !durations.includes(seconds))
    return { field, message: `must be one of ${durations.join(", ")} for this model` };
  return seconds !== null && longest !== null && seconds > longest ? { field, message: `must be at most ${longest} for this model` } : null;
}

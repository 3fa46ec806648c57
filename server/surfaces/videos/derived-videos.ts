import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { callerOf } from "../../services/files/caller.ts";
import type { FormBounds } from "../../services/files/upload-form.ts";
import { readMediaForm } from "../../services/files/read-media.ts";
import { storedMedia } from "../../services/files/stored-media.ts";
import type { SucceededVideo } from "../../services/videos/video-service.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { JsonDocument } from "../../wire/json/document.ts";
import { namedVideo, readDerivedVideosRequest } from "../../wire/videos/derived-request.ts";
import type { VideoDerivation } from "../../wire/videos/video-codec.ts";
import { type FilmedBefore, spelledOut, type VideosRequest } from "../../wire/videos/videos-request.ts";
import { openaiVideoObject } from "./openai-videos.ts";
import { jsonDocumentOf, isForm, readJsonDocument } from "./read-video.ts";
import { submitting, videoIdIn, type VideoServices } from "./videos.ts";

/** OpenAI's paths that derive a video from an existing one: each starts a job of its own. */

const BOUNDS: FormBounds = { fields: 40, fieldBytes: 128 * 1024, files: { video: 0 }, noFile: true };
/** Refused because nothing says which model an upload should go to. */
const NO_UPLOAD = "must be {id}, of a video made here: an upload is not taken";

interface ReadBody {
  readonly document: JsonDocument;
  /** Null if the body was JSON. */
  readonly formBytes: number | null;
}

async function readBody(call: Call, { spool }: VideoServices): Promise<ReadBody | Refusal> {
  if (!isForm(call)) {
    const document = await readJsonDocument(call);
    return isRefusal(document) ? document : { document, formBytes: null };
  }
  const form = await readMediaForm(call, spool, BOUNDS, "video");
  if (isRefusal(form))
    return form.fields?.some(({ field }) => field === "video") === true ? invalidRequest([{ field: "video", message: NO_UPLOAD }]) : form;
  const fields = new Map(form.fields);
  const id = fields.get("video[id]");
  fields.delete("video[id]");
  const fieldValues: JsonObject = { ...spelledOut(fields), ...(id !== undefined && { video: { id } }) };
  const bytes = new TextEncoder().encode(JSON.stringify(fieldValues));
  call.requestContent = bytes;
  const document = jsonDocumentOf(bytes);
  return isRefusal(document) ? document : { document, formBytes: form.bytes };
}

async function readDerived(call: Call, services: VideoServices, as: VideoDerivation): Promise<VideosRequest | Refusal> {
  const body = await readBody(call, services);
  if (isRefusal(body)) return body;
  const named = as === "remix" ? { id: videoIdIn(call) } : namedVideo(body.document);
  if ("fields" in named) return invalidRequest(named.fields);
  const found = await services.videos.succeeded(callerOf(call).owner, named.id);
  if (isRefusal(found)) return found;
  call.row.custom_metadata = { ...(call.row.custom_metadata as object | null | undefined), video: { source_job_id: found.job.id } };
  const request = readDerivedVideosRequest(body.document, filmedBefore(call, services, as, found), body.formBytes);
  return "fields" in request ? invalidRequest(request.fields) : request;
}

function filmedBefore(
  call: Call,
  store: VideoServices,
  as: VideoDerivation,
  { job, upstreamId, fileId, seconds }: SucceededVideo,
): FilmedBefore {
  const field = as === "remix" ? "video_id" : "video";
  return {
    ...{ as, field, jobId: job.id, upstreamId, modelId: job.model_id, providerKey: job.provider_key },
    ...{ resolution: job.resolution, seconds },
    open: () => storedMedia(call, store, { id: fileId, kind: "video" }, field),
  };
}

const deriving =
  (as: VideoDerivation) =>
  (services: VideoServices): Surface =>
    submitting(services, openaiVideoObject, (call) => readDerived(call, services, as));

/** POST /v1/proxy/llm/videos/{video_id}/remix */
export const openaiVideoRemix = deriving("remix");

/** POST /v1/proxy/llm/videos/edits */
export const openaiVideoEdit = deriving("edit");

/** POST /v1/proxy/llm/videos/extensions */
export const openaiVideoExtension = deriving("extension");

import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { MediaFile } from "../../kernel/files/media-file.ts";
import type { Call } from "../../road/call.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { FileService } from "../../services/files/caller.ts";
import type { FormBounds } from "../../services/files/upload-form.ts";
import { type MediaSpool, readMediaForm } from "../../services/files/read-media.ts";
import { dataPicture, type MediaStore, storedMedia } from "../../services/files/stored-media.ts";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { JsonDocument } from "../../wire/json/document.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { readVideosRequest, spelledOut, type VideosRequest } from "../../wire/videos/videos-request.ts";

const BOUNDS: FormBounds = { fields: 40, fieldBytes: 128 * 1024, files: { input_reference: 1 }, noFile: true };
/** Largest JSON request, including an image in base64. */
const MAX_JSON = 32 * 1024 * 1024;

export interface VideoReading extends MediaStore {
  readonly spool: MediaSpool;
  readonly files: FileService;
}

/** Reads a request for a video, as JSON or as the form that OpenAI's clients send. */
export async function readVideo(call: Call, parts: VideoReading): Promise<VideosRequest | Refusal> {
  const read = isForm(call) ? await fromForm(call, parts) : await fromJson(call, parts);
  if (isRefusal(read)) return read;
  if (read.reference !== null) call.requestContent = read.outbound({ model: read.model ?? "" });
  return read;
}

export const isForm = (call: Call): boolean => /^multipart\/form-data\s*;/i.test(call.headers.get("content-type") ?? "");

async function fromForm(call: Call, parts: VideoReading): Promise<VideosRequest | Refusal> {
  const form = await readMediaForm(call, parts.spool, BOUNDS, "image");
  if (isRefusal(form)) return form;
  const fields = new Map(form.fields);
  const named = ["file_id", "image_url"].map((name) => {
    const value = fields.get(`input_reference[${name}]`);
    fields.delete(`input_reference[${name}]`);
    return value;
  });
  const sent = form.files[0]?.file ?? null;
  const reference = sent ?? (await referenceOf(call, parts, { file_id: named[0] ?? null, image_url: named[1] ?? null }));
  if (reference !== null && isRefusal(reference)) return reference;
  const document = jsonDocumentOf(new TextEncoder().encode(JSON.stringify(spelledOut(fields))));
  if (isRefusal(document)) return document;
  const request = readVideosRequest(document, reference, form.bytes);
  if ("fields" in request) return invalidRequest(request.fields);
  call.requestContent = request.outbound({ model: request.model ?? "" });
  return request;
}

export function jsonDocumentOf(bytes: Uint8Array): JsonDocument | Refusal {
  const document = JsonDocument.read(bytes);
  return document instanceof JsonDocument ? document : invalidRequest([document]);
}

/** Reads a JSON body and records it as it arrived. */
export async function readJsonDocument(call: Call): Promise<JsonDocument | Refusal> {
  const body = call.arriving === undefined ? new Uint8Array(0) : await readUpTo(call.arriving, MAX_JSON);
  if (body === null) return refuse("body_too_large", undefined, { headers: { connection: "close" } });
  call.requestContent = body;
  call.row.request_size_bytes = body.byteLength;
  return jsonDocumentOf(body);
}

async function fromJson(call: Call, parts: VideoReading): Promise<VideosRequest | Refusal> {
  const document = await readJsonDocument(call);
  if (isRefusal(document)) return document;
  const reference = await referenceOf(call, parts, document.value.input_reference ?? null);
  if (reference !== null && isRefusal(reference)) return reference;
  const request = readVideosRequest(document, reference, null);
  return "fields" in request ? invalidRequest(request.fields) : request;
}

/** The image that a request names; null if it names none. */
async function referenceOf(call: Call, store: MediaStore, named: JsonValue): Promise<MediaFile | Refusal | null> {
  if (named === null) return null;
  const [id, url] = isObject(named) ? [named.file_id ?? null, named.image_url ?? null] : [null, null];
  if (id === null && url === null)
    return isObject(named) &&
      Object.keys(named).every((name) => name === "file_id" || name === "image_url") &&
      Object.keys(named).length > 0
      ? null
      : invalidRequest([{ field: "input_reference", message: "must be {file_id} or {image_url}" }]);
  if (typeof id === "string" && url === null) return storedMedia(call, store, { id, kind: "image" }, "input_reference.file_id");
  if (typeof url === "string" && id === null) return dataPicture(url, "input_reference.image_url");
  return invalidRequest([{ field: "input_reference", message: "must be {file_id} or {image_url}, one of the two and a text" }]);
}

import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { type Answer, jsonAnswer, ownAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import { callerOf } from "../../services/files/caller.ts";
import { type ResumableUploadService, takeLastPiece, takePiece } from "../../services/files/resumable-upload.ts";
import { baseName, unstorableFacts } from "../../services/files/file-description.ts";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { geminiFileOf, geminiFileSurface, apiVersionIn } from "./gemini-files.ts";

/** Google's resumable uploads: one call announces the file, then one call for each piece. */

const MAX_DESCRIPTION_BYTES = 64 * 1024;
/** Pieces may have any size; clients that ask for a granularity get Google's. */
const GRANULARITY = "262144";

interface UploadServices extends ResumableUploadService {
  readonly publicUrl: string | null;
}

/** POST /upload/v1beta/files, with and without `upload_id` */
export const geminiFileUpload = (services: UploadServices): Surface =>
  geminiFileSurface(async (call) => {
    const id = new URL(call.url).searchParams.get("upload_id");
    const commands = commandsOf(call);
    if (id === null)
      return commands.join() === "start"
        ? begin(call, services)
        : invalid("X-Goog-Upload-Command", "must be start where there is no upload_id");
    const upload = await services.uploads.find(callerOf(call).owner, id);
    if (isRefusal(upload)) return upload;
    if (commands.join() === "query") return ownAnswer(200, statusHeaders("active", upload.received_bytes), "");
    if (commands.join() === "cancel") {
      await services.uploads.cancel(upload);
      return ownAnswer(200, statusHeaders("cancelled"), "");
    }
    if (commands.length === 0 || !commands.every((command) => command === "upload" || command === "finalize"))
      return invalid("X-Goog-Upload-Command", "must be upload, finalize, both, query or cancel");
    if (call.headers.get("x-goog-upload-offset") !== String(upload.received_bytes))
      return invalid("X-Goog-Upload-Offset", `must be ${upload.received_bytes}: so many bytes have come`);
    if (!commands.includes("finalize")) {
      const received = await takePiece(call, services, upload);
      return typeof received !== "number" ? received : ownAnswer(200, statusHeaders("active", received), "");
    }
    const file = await takeLastPiece(call, services, upload);
    return isRefusal(file) ? file : jsonAnswer({ file: geminiFileOf(call, file, services.publicUrl) }, statusHeaders("final"));
  });

async function begin(call: Call, { uploads, uploadKeys, publicUrl }: UploadServices): Promise<Answer | Refusal> {
  if (call.headers.get("x-goog-upload-protocol")?.toLowerCase() !== "resumable")
    return invalid("X-Goog-Upload-Protocol", "must be resumable");
  const length = call.headers.get("x-goog-upload-header-content-length") ?? "";
  if (!/^[0-9]{1,15}$/.test(length)) return invalid("X-Goog-Upload-Header-Content-Length", "must be the bytes of the file");
  const displayName = await displayNameOf(call);
  if (displayName !== null && typeof displayName !== "string") return displayName;
  const id = await uploads.begin(callerOf(call).owner, displayName, Number(length));
  if (typeof id !== "string") return id;
  const key = uploadKeys.keyOf(call, id);
  const path = `/upload/${apiVersionIn(call)}/files?upload_id=${id}&upload_protocol=resumable${key === null ? "" : `&key=${key}`}`;
  const address = { "x-goog-upload-url": new URL(path, publicUrl ?? call.url).href, "x-goog-upload-chunk-granularity": GRANULARITY };
  return ownAnswer(200, { ...statusHeaders("active", 0), ...address }, "");
}

/** The name in the body, or the file's own. The kind is detected from the bytes. */
async function displayNameOf(call: Call): Promise<string | null | Refusal> {
  const body = call.arriving === undefined ? new Uint8Array() : await readUpTo(call.arriving, MAX_DESCRIPTION_BYTES).catch(() => null);
  if (body === null) return refuse("invalid_body", `The description of a file is at most ${MAX_DESCRIPTION_BYTES} bytes of JSON.`);
  const metadata = body.byteLength === 0 ? {} : jsonIn(body);
  if (!isObject(metadata)) return refuse("invalid_body", "The description of a file must be a JSON object.");
  const file = metadata.file ?? {};
  if (!isObject(file)) return unreadable("file", "must be an object");
  if (file.name !== undefined) return unreadable("file.name", "is given here and cannot be chosen");
  const named = file.displayName ?? file.display_name ?? baseName(call.headers.get("x-goog-upload-file-name") ?? "");
  if (named === null || named === "") return null;
  if (typeof named !== "string") return unreadable("file.displayName", "must be text");
  return unstorableFacts({ kind: null, displayName: named }) ?? named;
}

function jsonIn(body: Uint8Array): JsonValue | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as JsonValue;
  } catch {
    return undefined;
  }
}

const unreadable = (field: string, message: string): Refusal => refuse("invalid_body", undefined, { fields: [{ field, message }] });

/** The commands in the header; `upload, finalize` is two. */
function commandsOf({ headers }: Call): string[] {
  const command = (headers.get("x-goog-upload-command") ?? "").toLowerCase();
  return command.split(",").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
}

function statusHeaders(status: "active" | "final" | "cancelled", received?: number): Record<string, string> {
  return { "x-goog-upload-status": status, ...(received === undefined ? {} : { "x-goog-upload-size-received": String(received) }) };
}

const invalid = (field: string, message: string): Refusal => refuse("invalid_header", undefined, { fields: [{ field, message }] });

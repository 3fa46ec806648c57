import { createHash } from "node:crypto";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { typeOfBytes } from "../../kernel/files/file-kinds.ts";
import type { MediaFile } from "../../kernel/files/media-file.ts";
import type { Call } from "../../road/call.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { callerOf, type FileService } from "./caller.ts";
import type { FileRoom } from "../../road/request/file-room.ts";

const refused = (field: string, message: string): Refusal => refuse("invalid_body", undefined, { fields: [{ field, message }] });

/** Largest file to send along: what fits into one request to every supported provider. */
const MAX_BYTES = 20 * 1024 * 1024;

/** Where stored files are read from, and the memory available for them. */
export interface MediaStore {
  readonly files: Pick<FileService, "find" | "open">;
  readonly room: Pick<FileRoom, "hold">;
}

/** Reads one of the caller's stored pictures or videos, to be sent along. */
export async function storedMedia(
  call: Call,
  { files, room }: MediaStore,
  { id, kind }: { readonly id: string; readonly kind: "image" | "video" },
  field: string,
): Promise<MediaFile | Refusal> {
  const file = await files.find(callerOf(call).owner, id);
  if (isRefusal(file)) return { ...file, fields: [{ field, message: "names no file of the caller's" }] };
  if (file.kind !== kind) return refused(field, `names a file of the kind ${file.kind}, and one of the kind ${kind} is wanted`);
  if (file.size_bytes > MAX_BYTES) return refused(field, "names a file that is larger than 20 MiB");
  if (!room.hold(call, file.size_bytes)) return refuse("too_many_uploads", undefined, { headers: { "retry-after": "1" } });
  const bytes = await files.open(file, 0, file.size_bytes);
  if (isRefusal(bytes)) return bytes;
  const whole = await readUpTo(bytes, MAX_BYTES);
  return whole === null
    ? refused(field, "names a file that is larger than 20 MiB")
    : mediaOf(file.display_name ?? file.id, file.mime_type, whole);
}

/** Decodes a picture given as a data URL. */
export async function dataPicture(url: string, field: string): Promise<MediaFile | Refusal> {
  const [, base64] = /^data:[a-z/+.-]{1,60};base64,([A-Za-z0-9+/=]*)$/i.exec(url) ?? [];
  if (base64 === undefined) return refused(field, "must be a data URL: pictures are fetched from no address");
  const bytes = Buffer.from(base64, "base64");
  if (bytes.byteLength > MAX_BYTES) return refused(field, "is larger than 20 MiB");
  const mimeType = await typeOfBytes(bytes.subarray(0, 4_100), false);
  return mimeType.startsWith("image/") ? mediaOf("picture", mimeType, bytes) : refused(field, `is no picture: its bytes are ${mimeType}`);
}

function mediaOf(name: string, mimeType: string, bytes: Uint8Array): MediaFile {
  return {
    ...{ name, mimeType, bytes: bytes.byteLength, hash: createHash("sha256").update(bytes).digest("hex"), seconds: null },
    open: () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(bytes);
          controller.close();
        },
      }),
  };
}

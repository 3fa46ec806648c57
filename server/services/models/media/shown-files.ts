import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { MediaFile } from "../../../kernel/files/media-file.ts";
import type { Call } from "../../../road/call.ts";
import type { FileRoom } from "../../../road/request/file-room.ts";
import { readUpTo } from "../../../wire/http/read-up-to.ts";
import type { AttemptParts } from "../routing/attempt.ts";

/** For requests whose files some providers take in JSON. */
export interface ShownParts extends Pick<AttemptParts, "providers"> {
  /** Memory for what an attempt sends; released when the next attempt is prepared. */
  readonly room: Pick<FileRoom, "hold" | "release">;
}

export interface ShownFile {
  readonly mimeType: string;
  readonly base64: string;
}

export const noRoom = () => refuse("too_many_uploads", undefined, { headers: { "retry-after": "1" } });

/** Reads spooled files into memory, where they stay until the call ends or its memory is released. */
export async function inBase64(call: Call, files: readonly MediaFile[], room: ShownParts["room"]): Promise<ShownFile[] | Refusal> {
  const size = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (!room.hold(call, size)) return noRoom();
  const shown: ShownFile[] = [];
  for (const { open, bytes, mimeType } of files) {
    const read = await readUpTo(open(), bytes);
    shown.push({ mimeType, base64: Buffer.from(read ?? new Uint8Array(0)).toString("base64") });
  }
  return shown;
}

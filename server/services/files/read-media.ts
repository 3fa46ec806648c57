import type { Spool } from "../../directory/files/spool.ts";
import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { FileKind } from "../../kernel/files/file-kinds.ts";
import type { MediaFile } from "../../kernel/files/media-file.ts";
import type { Call } from "../../road/call.ts";
import { refusedCoding } from "../../road/request/read-body.ts";
import { callerOf } from "./caller.ts";
import { readForm } from "./read-form.ts";
import type { FormBounds, ReadForm } from "./upload-form.ts";

/** Temporary storage for files of calls in flight. */
export type MediaSpool = Pick<Spool, "receive" | "remove">;

export interface MediaPart {
  readonly field: string;
  readonly file: MediaFile;
}

/** Reads a form whose files are sent on with the call; they are deleted when the call ends. */
export async function readMediaForm(
  call: Call,
  spool: MediaSpool,
  bounds: FormBounds,
  kind: FileKind,
): Promise<ReadForm<MediaPart> | Refusal> {
  const { tenantId } = callerOf(call).owner;
  const coded = refusedCoding(call);
  if (coded !== null) return coded;
  const remove = ({ file }: MediaPart) => spool.remove(tenantId, file);
  const read = await readForm(
    call.arriving,
    call.headers.get("content-type"),
    bounds,
    async (part): Promise<MediaPart | Refusal> => {
      const file = await spool.receive(tenantId, part, kind);
      return isRefusal(file) ? file : { field: part.field, file };
    },
    remove,
  );
  if (isRefusal(read)) return read;
  call.whenEnded.push(() => {
    for (const part of read.files) void remove(part).catch(() => undefined);
  });
  call.row.request_size_bytes = read.bytes;
  return read;
}

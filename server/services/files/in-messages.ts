import { isRefusal, reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { type Call, noteAddedBytes } from "../../road/call.ts";
import { JsonDocument } from "../../wire/json/document.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { type FileContent, type FileNamingFormat, filePlaces, type FilePlace, TURNS } from "../../wire/stored-file-places.ts";
import { isTextFile } from "../../wire/texts/text-file.ts";
import { callerOf, type CallerFile, type FileService, noteFiles } from "./caller.ts";
import type { FileRoom } from "../../road/request/file-room.ts";

/** Most bytes that files may add to one request, as stored, and most places that may name files. */
const MAX_PER_REQUEST = 20 * 1024 * 1024;
const MAX_PLACES = 100;
const MARK = Buffer.from("file-");

/** Puts the caller's stored files into request bodies whose messages name them. */
export class FilesInMessages {
  private readonly files: Pick<FileService, "find" | "open">;
  private readonly room: FileRoom;

  constructor(files: Pick<FileService, "find" | "open">, room: FileRoom) {
    this.files = files;
    this.room = room;
  }

  /** Returns the body unchanged if it names no file. Other problems of the body are left to its reader. */
  put(call: Call, body: Uint8Array, format: FileNamingFormat): Uint8Array | Promise<Uint8Array | Refusal> {
    if (!Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(MARK)) return body;
    const document = JsonDocument.read(body);
    if (!(document instanceof JsonDocument) || document.repeatedName !== null) return body;
    const places = filePlaces(document.value, format);
    return places.length === 0 ? body : this.fill(call, document, places, TURNS[format]);
  }

  private async fill(call: Call, document: JsonDocument, places: readonly FilePlace[], turns: string): Promise<Uint8Array | Refusal> {
    if (places.length > MAX_PLACES) return unreadable(turns, `names more than ${MAX_PLACES} files`);
    const found = await this.find(call, places);
    if (isRefusal(found)) return found;
    const size = places.reduce((sum, { fileId }) => sum + sizeOf(found, fileId), 0);
    if (size > MAX_PER_REQUEST)
      return refuse("file_too_large", "The files that a request names are at most 20 MiB together.", {
        fields: places.slice(0, 20).map(({ field }) => ({ field, message: "names a file that does not fit" })),
      });
    if (!this.room.hold(call, size)) return refuse("too_many_uploads", undefined, { headers: { "retry-after": "1" } });
    const contents = await this.read(found);
    if (isRefusal(contents)) return contents;
    for (const place of places) {
      const content = contents.get(place.fileId) as FileContent;
      place.put(content);
      // What a model counts for other file types is known only from its answer.
      if (isTextFile(content.mimeType, content.name)) noteAddedBytes(call, content.bytes.byteLength);
    }
    document.touch(turns);
    noteFiles(call, [...found.values()]);
    return new TextEncoder().encode(document.text());
  }

  private async find(call: Call, places: readonly FilePlace[]): Promise<Map<string, CallerFile> | Refusal> {
    const { owner } = callerOf(call);
    const found = new Map<string, CallerFile>();
    for (const { field, fileId } of places) {
      if (found.has(fileId)) continue;
      const file = await this.files.find(owner, fileId);
      if (isRefusal(file)) return { ...file, fields: [{ field, message: "names no file of the caller's" }] };
      found.set(fileId, file);
    }
    return found;
  }

  private async read(found: ReadonlyMap<string, CallerFile>): Promise<Map<string, FileContent> | Refusal> {
    const contents = new Map<string, FileContent>();
    for (const [id, file] of found) {
      const stream = await this.files.open(file, 0, file.size_bytes);
      if (isRefusal(stream)) return stream;
      try {
        const bytes = await readUpTo(stream, file.size_bytes);
        if (bytes?.byteLength !== file.size_bytes) return refuse("files_unavailable", undefined, { reason: "another size than recorded" });
        contents.set(id, { mimeType: file.mime_type, name: file.display_name ?? id, bytes });
      } catch (error) {
        return refuse("files_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
      }
    }
    return contents;
  }
}

function sizeOf(found: ReadonlyMap<string, CallerFile>, id: string): number {
  return (found.get(id) as CallerFile).size_bytes;
}

function unreadable(field: string, message: string): Refusal {
  return refuse("invalid_body", undefined, { fields: [{ field, message }] });
}

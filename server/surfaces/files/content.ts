import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { type Answer, ownAnswer, type StreamAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { CallerFile, FileService } from "../../services/files/caller.ts";
import { fileNameOf } from "../../services/files/file-name.ts";
import { isShown } from "../../kernel/files/file-kinds.ts";
import { PASSED_STREAM } from "../../wire/streams/stream.ts";
import { byteRangeOf } from "./byte-range.ts";

/** Headers that prevent anything in the file from running, and let only media be displayed inline. */
function headersOf(file: CallerFile): Record<string, string> {
  return {
    "content-type": file.mime_type === "text/plain" ? "text/plain; charset=utf-8" : file.mime_type,
    "content-disposition": `${isShown(file.mime_type) ? "inline" : "attachment"}; filename*=UTF-8''${encodeURIComponent(fileNameOf(file)).replaceAll("'", "%27")}`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "cross-origin",
    "cache-control": "private, no-store",
    "accept-ranges": "bytes",
    etag: `"${file.content_hash}"`,
  };
}

/** The bytes of a file, or the requested range. */
export async function contentAnswer(call: Call, files: FileService, file: CallerFile): Promise<Answer | Refusal> {
  const headers = headersOf(file);
  const range = byteRangeOf(call, file);
  if (range === "unsatisfiable")
    return refuse("range_not_satisfiable", undefined, { headers: { "content-range": `bytes */${file.size_bytes}` } });
  const { start, end } = range ?? { start: 0, end: file.size_bytes };
  const status = range === null ? 200 : 206;
  if (range !== null) headers["content-range"] = `bytes ${start}-${end - 1}/${file.size_bytes}`;
  // HEAD gets no stream: nobody would read it, and the announced length would be waited for.
  if (call.method === "HEAD") return ownAnswer(status, { ...headers, "content-length": String(end - start) });
  const stream = await files.open(file, start, end);
  if (isRefusal(stream)) return stream;
  return {
    kind: "stream",
    status,
    headers: { ...headers, "content-length": String(end - start) },
    upstream: stream.getReader(),
    codec: PASSED_STREAM,
    head: [],
    inputCharacters: null,
    sender: "store of files",
    bytes: true,
  } satisfies StreamAnswer;
}

import type { ReceivedFile } from "../../directory/files/stored-files.ts";
import type { ResumableUpload, ResumableUploads } from "../../directory/files/resumable-uploads.ts";
import { isRefusal, reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import type { Call } from "../../road/call.ts";
import { refusedCoding } from "../../road/request/read-body.ts";
import { type CallerFile, callerOf, type FileService, noteFile } from "./caller.ts";
import type { UploadKeys } from "./upload-keys.ts";
import { piecesInTime } from "./pieces-in-time.ts";

export interface ResumableUploadService {
  readonly files: FileService;
  readonly uploads: ResumableUploads;
  readonly uploadKeys: UploadKeys;
}

const CLOSING = { headers: { connection: "close" } };

/** Stores the call's body as the next piece of an upload. Returns the bytes received so far for the whole upload. */
export async function takePiece(call: Call, services: ResumableUploadService, upload: ResumableUpload): Promise<number | Refusal> {
  const piece = await receivePiece(call, services, upload);
  if (isRefusal(piece)) return piece;
  return (await services.uploads.add(upload, piece)) ?? upload.received_bytes + piece.bytes;
}

/** Stores the call's body as the last piece of an upload and creates the file. Refuses if bytes are missing. */
export async function takeLastPiece(call: Call, services: ResumableUploadService, upload: ResumableUpload): Promise<CallerFile | Refusal> {
  const { owner, tenant } = callerOf(call);
  const piece = await receivePiece(call, services, upload);
  if (isRefusal(piece)) return piece;
  const missing = upload.size_bytes - upload.received_bytes - piece.bytes;
  if (missing > 0) {
    await services.files.discard(piece);
    return refuse("invalid_body", `The file was said to have ${upload.size_bytes} bytes; ${missing} of them did not come.`);
  }
  const file = await services.uploads.finish(owner, tenant, upload, piece);
  if (!isRefusal(file)) noteFile(call, file);
  return file;
}

async function receivePiece(call: Call, { files }: ResumableUploadService, upload: ResumableUpload): Promise<ReceivedFile | Refusal> {
  const coded = refusedCoding(call);
  if (coded !== null) return coded;
  const left = upload.size_bytes - upload.received_bytes;
  const body = new PieceBody(call.arriving ?? new Blob([]).stream(), left);
  const received = await files.receive(callerOf(call).owner.tenantId, body.bytes(), () => null);
  if (body.problem !== null && !isRefusal(received)) await files.discard(received);
  if (body.problem !== null) return body.problem;
  if (isRefusal(received)) return received;
  call.row.request_size_bytes = received.bytes;
  call.row.request_content_hash = received.hash;
  return received;
}

/** A body of at most `most` bytes. */
class PieceBody {
  /** Why the body must not be kept; null if it may be. */
  problem: Refusal | null = null;
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private readonly most: number;

  constructor(body: ReadableStream<Uint8Array>, most: number) {
    this.reader = body.getReader();
    this.most = most;
  }

  async *bytes(): AsyncGenerator<Uint8Array> {
    let left = this.most;
    try {
      for await (const piece of piecesInTime(this.reader, () => this.stop(refuse("body_timeout", undefined, CLOSING)))) {
        left -= piece.byteLength;
        if (left < 0) return this.stop(refuse("file_too_large", "The file is larger than it was said to be.", CLOSING));
        yield piece;
      }
    } catch (error) {
      this.stop(refuse("invalid_body", "The request body broke off.", { reason: reasonOf(error) }));
    }
  }

  private stop(why: Refusal): void {
    this.problem ??= why;
    void cancelQuietly(this.reader);
  }
}

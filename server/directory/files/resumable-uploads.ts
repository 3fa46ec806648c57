import { MAX_BYTES } from "../../kernel/files/file-kinds.ts";
import type { Clock } from "../../kernel/clock.ts";
import { ERRORS, isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import type { BlobStore } from "../../store/files/blobs.ts";
import type { Database } from "../../store/database.ts";
import type { FileOwner } from "../../store/files/files.ts";
import {
  addUploadPiece,
  endResumableUpload,
  findResumableUpload,
  insertResumableUpload,
  type ResumableUploadRow,
} from "../../store/files/resumable-uploads.ts";
import type { UploadPiece } from "../../store/tables/files.ts";
import type { TenantSnapshot } from "../snapshot.ts";
import { ABANDONED_MS, type Files, type ReceivedFile, type StoredFile } from "./stored-files.ts";

export type ResumableUpload = ResumableUploadRow;

/** Limits of one caller. */
const MAX_IN_PROGRESS = { uploads: 64, bytes: 4 * MAX_BYTES };
/** Keeps a client that sends pieces of a few bytes from filling the store with them. */
const MAX_PIECES = 1_000;

/** Files uploaded in several requests, to any process: each piece is stored as it arrives, and the file after the last one. */
export class ResumableUploads {
  private readonly parts: { readonly db: Database; readonly blobs: BlobStore; readonly clock: Clock };
  private readonly files: Files;

  constructor(parts: ResumableUploads["parts"], files: Files) {
    this.parts = parts;
    this.files = files;
  }

  /** Returns the ID of a new upload of `bytes` bytes. */
  async begin(owner: FileOwner, displayName: string | null, bytes: number): Promise<string | Refusal> {
    if (bytes > MAX_BYTES) return refuse("file_too_large", `A file is at most ${MAX_BYTES / 1024 / 1024} MiB.`);
    const { db, clock } = this.parts;
    const upload = { id: ulid(), display_name: displayName, size_bytes: bytes, expires_at: new Date(clock.now() + ABANDONED_MS) };
    return (await insertResumableUpload(db, owner, upload, MAX_IN_PROGRESS)) ? upload.id : refuse("too_many_uploads");
  }

  /** Refuses uploads of other callers and expired ones as not found. */
  async find(owner: FileOwner, id: string): Promise<ResumableUpload | Refusal> {
    const { db, clock } = this.parts;
    return (await findResumableUpload(db, owner, id, new Date(clock.now()))) ?? refuse("file_not_found", "There is no such upload.");
  }

  /** Appends a piece. If another request appended one meanwhile, this one is discarded. */
  async add(upload: ResumableUpload, { id: key, bytes }: ReceivedFile): Promise<Refusal | null> {
    const isAdded = upload.pieces.length < MAX_PIECES && (await addUploadPiece(this.parts.db, upload, { key, bytes }));
    if (isAdded) return null;
    await this.files.discard({ id: key });
    return upload.pieces.length < MAX_PIECES
      ? refuse("file_not_found", "The upload has gone on meanwhile.")
      : refuse("file_too_large", `An upload is at most ${MAX_PIECES} pieces.`);
  }

  /** Joins all pieces and `last` into a file, and removes the pieces. */
  async finish(owner: FileOwner, tenant: TenantSnapshot, upload: ResumableUpload, last: ReceivedFile): Promise<StoredFile | Refusal> {
    const pieces = [...upload.pieces, { key: last.id, bytes: last.bytes }];
    const whole = pieces.length === 1 ? last : await this.files.receive(owner.tenantId, this.bytesOf(pieces), () => null);
    const facts = { kind: null, displayName: upload.display_name };
    const isNotOver = (trx: Parameters<typeof endResumableUpload>[0]) => endResumableUpload(trx, upload);
    const file = isRefusal(whole) ? whole : await this.files.record(owner, tenant, whole, facts, isNotOver);
    // A permanent refusal would only recur, so the upload ends. An upload that continued meanwhile keeps its pieces.
    const isOver = !isRefusal(file) || (!ERRORS[file.code].retry && (await endResumableUpload(this.parts.db, upload)));
    if (pieces.length > 1) await this.discard(isOver ? pieces : pieces.slice(-1));
    return file;
  }

  async cancel(upload: ResumableUpload): Promise<void> {
    if (await endResumableUpload(this.parts.db, upload)) await this.discard(upload.pieces);
  }

  private async *bytesOf(pieces: readonly UploadPiece[]): AsyncGenerator<Uint8Array> {
    for (const { key, bytes } of pieces) yield* await this.parts.blobs.read(key, 0, bytes);
  }

  private async discard(pieces: readonly UploadPiece[]): Promise<void> {
    for (const { key } of pieces) await this.files.discard({ id: key });
  }
}

import { createHash } from "node:crypto";
import type { GroupScope, TenantSnapshot } from "../snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isRefusal, reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import type { BlobStore } from "../../store/files/blobs.ts";
import type { Database, Trx } from "../../store/database.ts";
import {
  countAccess,
  deleteFiles,
  type FileFilter,
  type FileOwner,
  type FileRow,
  findFile,
  findSignedFile,
  listFiles,
  noteUpload,
  recordFile,
  removeSoon,
  storedBytesOfGroup,
} from "../../store/files/files.ts";
import { capOf, type FileKind, fitsKind, HEAD_BYTES, kindOfType, typeOfBytes } from "../../kernel/files/file-kinds.ts";
import { isIssued, isSigned, signedPath } from "./signed-url.ts";

export interface FileParts {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly secrets: Pick<SecretBox, "proofs">;
  readonly clock: Clock;
  readonly log: Log;
  readonly tenant: (id: string) => TenantSnapshot | null | Promise<TenantSnapshot | null>;
}

/** The record of a file. */
export type StoredFile = FileRow;

/** Bytes in the store that have no record yet. */
export interface ReceivedFile {
  readonly id: string;
  readonly mimeType: string;
  readonly bytes: number;
  readonly hash: string;
}

/** A file's metadata. */
export interface FileFacts {
  /** Null derives it from the type of the bytes. */
  readonly kind: FileKind | null;
  readonly purpose?: string | null;
  readonly chatId?: string | null;
  readonly modelId?: string | null;
  readonly displayName?: string | null;
  /** How long until the file expires, if earlier than the tenant's files do. */
  readonly expiresInSeconds?: number | null;
  /** Lifts the upload size limits, for files the gateway writes itself, such as batch results. */
  readonly anySize?: boolean;
}

/** When an upload without a record counts as abandoned; longer than any upload may take. */
export const ABANDONED_MS = 2 * 3_600_000;
const DAY_MS = 86_400_000;
/** Concurrent uploads per tenant. */
const UPLOADS_AT_ONCE = 64;

/** The group has used up the storage that its tenant allows. */
class StorageFull extends Error {}

/** The `also` step of `record` rejected the file, so the transaction is rolled back. */
class NotWanted extends Error {}

/** Callers' files: bytes in the store, records in the database, and who may access them. */
export class Files {
  private readonly parts: FileParts;
  private readonly uploading = new Map<string, number>();

  constructor(parts: FileParts) {
    this.parts = parts;
  }

  /**
   * Streams bytes into the store. Refused or interrupted uploads leave nothing behind; neither, after a while, do those
   * followed by neither `record` nor `discard`. `kindSoFar` determines the size limit; it returns null while the kind is
   * unknown.
   */
  async receive(
    tenantId: string,
    bytes: AsyncIterable<Uint8Array>,
    kindSoFar: () => FileKind | null,
    anySize = false,
  ): Promise<ReceivedFile | Refusal> {
    const under = this.uploading.get(tenantId) ?? 0;
    if (under >= UPLOADS_AT_ONCE) return refuse("too_many_uploads", undefined, { headers: { "retry-after": "1" } });
    this.uploading.set(tenantId, under + 1);
    try {
      const limits = (await this.parts.tenant(tenantId))?.mediaLimits;
      return await this.write(bytes, (size) => (anySize ? null : refusedSize(size, kindSoFar(), limits)));
    } finally {
      const left = (this.uploading.get(tenantId) ?? 1) - 1;
      if (left === 0) this.uploading.delete(tenantId);
      else this.uploading.set(tenantId, left);
    }
  }

  private async write(bytes: AsyncIterable<Uint8Array>, refusedSoFar: (size: number) => Refusal | null): Promise<ReceivedFile | Refusal> {
    const { db, blobs, clock, log } = this.parts;
    const id = `file-${ulid()}`;
    const hash = createHash("sha256");
    const head: Uint8Array[] = [];
    let size = 0;
    let headSize = 0;
    let tooLarge: Refusal | null = null;
    async function* passing(): AsyncGenerator<Uint8Array> {
      for await (const piece of bytes) {
        size += piece.byteLength;
        tooLarge = refusedSoFar(size);
        if (tooLarge !== null) throw new Error("too large");
        hash.update(piece);
        if (headSize < HEAD_BYTES) {
          head.push(piece.slice(0, HEAD_BYTES - headSize));
          headSize += head.at(-1)?.byteLength ?? 0;
        }
        yield piece;
      }
    }
    try {
      await noteUpload(db, id, new Date(clock.now() + ABANDONED_MS), blobs.directory);
      await blobs.write(id, passing());
    } catch (error) {
      await removeSoon(db, id).catch(() => undefined);
      if (tooLarge !== null) return tooLarge;
      log.warn("file_not_stored", { error: error as Error });
      return refuse("files_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
    }
    const mimeType = await typeOfBytes(Buffer.concat(head), size <= HEAD_BYTES);
    return { id, mimeType, bytes: size, hash: hash.digest("hex") };
  }

  /**
   * Creates the record of received bytes, or removes them and returns the refusal. `also` runs in the same transaction; if
   * it returns false, nothing is kept and the answer is as for a missing file.
   */
  async record(
    owner: FileOwner,
    tenant: TenantSnapshot,
    received: ReceivedFile,
    facts: FileFacts,
    also?: (trx: Trx, fileId: string) => Promise<boolean>,
  ): Promise<FileRow | Refusal> {
    const kind = facts.kind ?? kindOfType(received.mimeType);
    const refusal = fitsKind(received.mimeType, kind)
      ? facts.anySize === true
        ? null
        : refusedSize(received.bytes, kind, tenant.mediaLimits)
      : refuse("invalid_body", undefined, {
          fields: [{ field: "kind", message: `is ${kind}, and the bytes of the file are ${received.mimeType}` }],
        });
    if (refusal !== null) {
      await this.discard(received);
      return refusal;
    }
    const now = this.parts.clock.now();
    try {
      return await this.parts.db.transaction().execute(async (trx) => {
        await this.checkRoom(trx, owner, tenant, received, now);
        if (also !== undefined && !(await also(trx, received.id))) throw new NotWanted();
        return recordFile(trx, {
          id: received.id,
          tenant_id: owner.tenantId,
          resource_group_id: owner.groupId,
          end_user_id: owner.userId,
          kind,
          purpose: facts.purpose ?? null,
          mime_type: received.mimeType,
          size_bytes: received.bytes,
          content_hash: received.hash,
          chat_id: facts.chatId ?? null,
          model_id: facts.modelId ?? null,
          display_name: facts.displayName ?? null,
          created_at: new Date(now),
          expires_at: expiry(now, tenant, facts),
          directory: this.parts.blobs.directory,
        });
      });
    } catch (error) {
      if (error instanceof NotWanted || error instanceof StorageFull) {
        await this.discard(received);
        return refuse(error instanceof NotWanted ? "file_not_found" : "file_storage_full");
      }
      // If only the acknowledgement of the commit was lost, the file is recorded; this then does not remove it.
      await removeSoon(this.parts.db, received.id).catch(() => undefined);
      return refuse("files_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
    }
  }

  private async checkRoom(
    trx: Trx,
    owner: FileOwner,
    { mediaLimits }: TenantSnapshot,
    { bytes }: ReceivedFile,
    now: number,
  ): Promise<void> {
    const most = mediaLimits?.group_storage_mb ?? null;
    if (most === null) return;
    if ((await storedBytesOfGroup(trx, owner.groupId, new Date(now))) + bytes > most * 1024 * 1024) throw new StorageFull();
  }

  /** Stores something the gateway itself produced for a caller, such as a model's output or batch results. */
  async store(owner: FileOwner, tenant: TenantSnapshot, bytes: AsyncIterable<Uint8Array>, facts: FileFacts): Promise<FileRow | Refusal> {
    const received = await this.receive(owner.tenantId, bytes, () => facts.kind, facts.anySize);
    return isRefusal(received) ? received : this.record(owner, tenant, received, facts);
  }

  async discard({ id }: Pick<ReceivedFile, "id">): Promise<void> {
    await removeSoon(this.parts.db, id).catch((error: Error) => this.parts.log.warn("file_not_removed", { error }));
    await this.parts.blobs.remove(id).catch(() => undefined);
  }

  /** Refuses other callers' files and deleted ones as not found. */
  async find(owner: FileOwner, id: string): Promise<FileRow | Refusal> {
    return (await findFile(this.parts.db, owner, id, this.now())) ?? refuse("file_not_found");
  }

  list(owner: FileOwner, filter: FileFilter, page: Parameters<typeof listFiles>[3]): ReturnType<typeof listFiles> {
    return listFiles(this.parts.db, owner, filter, page, this.now());
  }

  /** Deletes one file, or all of a chat, and returns how many. Their bytes are removed in the worker's next run. */
  async delete(owner: FileOwner, which: Parameters<typeof deleteFiles>[2]): Promise<number> {
    return (await deleteFiles(this.parts.db, owner, which, this.now())).length;
  }

  signedPath(file: FileRow, seconds: number): string {
    return signedPath(this.parts.secrets, file.tenant_id, file.id, Math.floor(this.parts.clock.now() / 1000) + seconds);
  }

  /** Whether the address was signed here and has not expired, whichever file it was for. */
  isIssued(id: string, expires: string, signature: string): boolean {
    return isIssued(this.parts.secrets, { id, expires }, signature, this.parts.clock.now());
  }

  /** The file that a signature grants. A signature that is wrong, expired or for another file gets the same refusal as a missing file. */
  async findSigned(id: string, expires: string, signature: string): Promise<FileRow | Refusal> {
    const { db, secrets, clock, tenant } = this.parts;
    const file = await findSignedFile(db, id, this.now());
    const signed = { tenantId: file?.tenant_id ?? "", id, expires };
    if (!isSigned(secrets, signed, signature, clock.now()) || file === undefined) return refuse("file_not_found");
    return (await tenant(file.tenant_id))?.enabled === true ? file : refuse("file_not_found");
  }

  /** Streams a file's bytes from `start` up to but excluding `end`; counts as one access if `counted`. */
  async open(file: FileRow, start: number, end: number, counted = true): Promise<ReadableStream<Uint8Array> | Refusal> {
    try {
      // Before opening the stream: if counting fails, nobody would read or cancel it.
      if (counted) await countAccess(this.parts.db, file.tenant_id, file.id);
      return await this.parts.blobs.read(file.id, start, end);
    } catch (error) {
      return refuse("files_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
    }
  }

  private now(): Date {
    return new Date(this.parts.clock.now());
  }
}

/** The owner under which a caller's files are stored. */
export function fileOwner(identity: { readonly tenantId: string; readonly userId: string | null }, scope: GroupScope): FileOwner {
  return { tenantId: identity.tenantId, groupId: scope.groupId, userId: identity.userId };
}

function expiry(now: number, { fileDays }: TenantSnapshot, { expiresInSeconds }: FileFacts): Date | null {
  const kept = Math.min(
    fileDays === null ? Number.POSITIVE_INFINITY : fileDays * DAY_MS,
    expiresInSeconds == null ? Number.POSITIVE_INFINITY : expiresInSeconds * 1000,
  );
  return Number.isFinite(kept) ? new Date(now + kept) : null;
}

function refusedSize(bytes: number, kind: FileKind | null, limits: TenantSnapshot["mediaLimits"]): Refusal | null {
  const most = capOf(kind, { ...limits });
  if (bytes <= most) return null;
  const what = kind === null ? "A file" : `A file of the kind ${kind}`;
  return refuse("file_too_large", `${what} is at most ${most / 1024 / 1024} MiB.`, { headers: { connection: "close" } });
}

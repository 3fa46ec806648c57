import { createHash } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { capOf, type FileKind, fitsKind, HEAD_BYTES, typeOfBytes } from "../../kernel/files/file-kinds.ts";
import { ulid } from "../../kernel/ids.ts";
import type { MediaFile } from "../../kernel/files/media-file.ts";
import { fileBytes } from "../../runtime/file-bytes.ts";
import type { AudioLengths } from "../../runtime/sound-length.ts";

/** How many files one tenant's ongoing calls may hold. */
const MAX_PER_TENANT = 64;

/**
 * Files uploaded with ongoing calls, kept on disk instead of in memory, in a directory held by one process. Opening it
 * removes what a killed process left.
 */
export class Spool {
  private readonly path: string;
  private readonly lengths: Pick<AudioLengths, "seconds">;
  private readonly paths = new WeakMap<MediaFile, string>();
  private readonly held = new Map<string, number>();

  private constructor(path: string, lengths: Pick<AudioLengths, "seconds">) {
    this.path = path;
    this.lengths = lengths;
  }

  static async open(path: string, lengths: Pick<AudioLengths, "seconds">): Promise<Spool> {
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { recursive: true, mode: 0o700 });
    return new Spool(path, lengths);
  }

  /** Receives bytes that must be of one kind; leaves nothing behind if they are refused or cut off. */
  async receive(
    tenantId: string,
    { field, name, bytes }: { readonly field: string; readonly name: string; readonly bytes: AsyncIterable<Uint8Array> },
    kind: FileKind,
  ): Promise<MediaFile | Refusal> {
    const under = this.held.get(tenantId) ?? 0;
    if (under >= MAX_PER_TENANT) return refuse("too_many_uploads", undefined, { headers: { "retry-after": "1" } });
    this.held.set(tenantId, under + 1);
    const path = join(this.path, ulid());
    const taken = await this.take(tenantId, path, field, name, bytes, kind);
    if ("code" in taken) await this.release(tenantId, path);
    else this.paths.set(taken, path);
    return taken;
  }

  async remove(tenantId: string, file: MediaFile): Promise<void> {
    const path = this.paths.get(file);
    if (path !== undefined && this.paths.delete(file)) await this.release(tenantId, path);
  }

  private async release(tenantId: string, path: string): Promise<void> {
    const left = (this.held.get(tenantId) ?? 1) - 1;
    if (left === 0) this.held.delete(tenantId);
    else this.held.set(tenantId, left);
    await rm(path, { force: true });
  }

  private async take(
    tenantId: string,
    path: string,
    field: string,
    name: string,
    bytes: AsyncIterable<Uint8Array>,
    kind: FileKind,
  ): Promise<MediaFile | Refusal> {
    const hash = createHash("sha256");
    const head: Uint8Array[] = [];
    let [size, headSize] = [0, 0];
    const most = capOf(kind);
    try {
      const file = await open(path, "wx", 0o600);
      try {
        for await (const piece of bytes) {
          size += piece.byteLength;
          if (size > most) return tooLarge(kind);
          hash.update(piece);
          if (headSize < HEAD_BYTES) {
            head.push(piece.slice(0, HEAD_BYTES - headSize));
            headSize += head.at(-1)?.byteLength ?? 0;
          }
          for (let at = 0; at < piece.byteLength;) at += (await file.write(piece, at)).bytesWritten;
        }
      } finally {
        await file.close();
      }
    } catch (error) {
      return refuse("files_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
    }
    const mimeType = await typeOfBytes(Buffer.concat(head), size <= HEAD_BYTES);
    if (!fitsKind(mimeType, kind))
      return refuse("invalid_body", undefined, {
        fields: [{ field, message: `must be of the kind ${kind}, and its bytes are ${mimeType}` }],
      });
    const seconds = kind === "image" ? null : await this.lengths.seconds(tenantId, path);
    return { name, mimeType, bytes: size, hash: hash.digest("hex"), seconds, open: () => fileBytes(path, 0, size) };
  }
}

function tooLarge(kind: FileKind): Refusal {
  return refuse("file_too_large", `A file of the kind ${kind} is at most ${capOf(kind) / 1024 / 1024} MiB.`, {
    headers: { connection: "close" },
  });
}

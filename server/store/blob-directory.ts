import { existsSync, readFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { uuid } from "../kernel/ids.ts";
import { writeWhole } from "../runtime/whole-file.ts";
import type { BlobStore } from "./blobs.ts";

const PIECE = 64 * 1024;
const KEY = /^[A-Za-z0-9-]{8,100}$/;

/**
 * Blobs in a directory of one machine. What a process that was killed had begun to write stands in `arrivals`, which no
 * other process has, and goes when the next one opens it.
 */
export async function openBlobDirectory(path: string, arrivals = "arriving"): Promise<BlobStore> {
  const arriving = join(path, arrivals);
  await rm(arriving, { recursive: true, force: true });
  await mkdir(arriving, { recursive: true, mode: 0o700 });
  const directory = idOf(path);
  const made = new Set<string>();
  const folderOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error("not a key of a blob");
    // The end of a key is random, its beginning tells the time.
    return join(path, key.slice(-2).toLowerCase());
  };
  const pathOf = (key: string): string => join(folderOf(key), key);

  return {
    address: path,
    directory,
    async write(key, bytes) {
      const to = pathOf(key);
      const from = join(arriving, key);
      const file = await open(from, "wx", 0o600);
      try {
        try {
          for await (const piece of bytes) for (let at = 0; at < piece.byteLength;) at += (await file.write(piece, at)).bytesWritten;
          await file.datasync();
        } finally {
          await file.close();
        }
        const folder = folderOf(key);
        if (!made.has(folder)) {
          await mkdir(folder, { recursive: true, mode: 0o700 });
          made.add(folder);
        }
        await rename(from, to);
      } catch (error) {
        await rm(from, { force: true });
        throw error;
      }
    },
    async read(key, start, end) {
      const file = await open(pathOf(key), "r");
      let at = start;
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            try {
              const piece = new Uint8Array(Math.min(PIECE, end - at));
              const { bytesRead } = piece.byteLength === 0 ? { bytesRead: 0 } : await file.read(piece, 0, piece.byteLength, at);
              at += bytesRead;
              if (bytesRead > 0) controller.enqueue(piece.subarray(0, bytesRead));
              if (bytesRead > 0 && at < end) return;
              await file.close();
              if (at < end) controller.error(new Error("the stored bytes are fewer than their record says"));
              else controller.close();
            } catch (error) {
              await file.close().catch(() => undefined);
              throw error;
            }
          },
          cancel: () => file.close(),
        },
        { highWaterMark: 0 },
      );
    },
    async remove(key) {
      try {
        await rm(pathOf(key));
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
        throw error;
      }
    },
  };
}

/** It goes where the directory goes, and is made by the first process that opens that. */
function idOf(path: string): string {
  const file = join(path, "directory-id");
  if (!existsSync(file)) writeWhole(file, uuid());
  return readFileSync(file, "utf8");
}

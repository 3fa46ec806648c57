import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { uuid } from "../../kernel/ids.ts";
import { fileBytes } from "../../runtime/file-bytes.ts";
import type { BlobStore } from "./blobs.ts";

const KEY = /^[A-Za-z0-9-]{8,100}$/;

/**
 * Stores blobs in a directory of one machine. Unfinished writes are in `arrivals`, which no other process uses; those of a killed process
 * are removed on opening.
 */
export async function openBlobDirectory(path: string, arrivals = "arriving"): Promise<BlobStore> {
  const arriving = join(path, arrivals);
  await rm(arriving, { recursive: true, force: true });
  await mkdir(arriving, { recursive: true, mode: 0o700 });
  const directory = idOf(path, arriving);
  const made = new Set<string>();
  const folderOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error("not a key of a blob");
    // A key begins with its time; only its end is random.
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
          await syncFolder(path);
          made.add(folder);
        }
        await rename(from, to);
        await syncFolder(folder);
      } catch (error) {
        for (const left of [from, to]) await rm(left, { force: true });
        throw error;
      }
    },
    async read(key, start, end) {
      await stat(pathOf(key));
      return fileBytes(pathOf(key), start, end);
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

/**
 * The ID moves with the directory and is written by the first process that opens it, even if several do at once. Null if it cannot be
 * written (full disk, no hard links): files are then stored as if every process could reach them.
 */
function idOf(path: string, arriving: string): string | null {
  const file = join(path, "directory-id");
  return existsSync(file) || madeId(file, join(arriving, "directory-id")) ? readFileSync(file, "utf8") : null;
}

/** Linked only when complete, so that nobody reads a partial ID. */
function madeId(file: string, own: string): boolean {
  try {
    writeFileSync(own, uuid(), { mode: 0o600, flush: true });
    linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
  }
  rmSync(own);
  return true;
}

/** Makes new entries of the directory survive a loss of power. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

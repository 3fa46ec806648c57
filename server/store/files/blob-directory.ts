import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { uuid } from "../../kernel/ids.ts";
import { fileBytes } from "../../runtime/file-bytes.ts";
import type { BlobStore } from "./blobs.ts";

const KEY = /^[A-Za-z0-9-]{8,100}$/;

/**
 * Blobs in a directory of one machine. What a process that was killed had begun to write stands in `arrivals`, which no
 * other process has, and goes when the next one opens it.
 */
export async function openBlobDirectory(path: string, arrivals = "arriving"): Promise<BlobStore> {
  const arriving = join(path, arrivals);
  await rm(arriving, { recursive: true, force: true });
  await mkdir(arriving, { recursive: true, mode: 0o700 });
  const directory = idOf(path, arriving);
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
 * It goes where the directory goes, and is that of the first process that opens it, also where several do so at once. Null where none
 * can be kept, on a full disk or without hard links: files are stored all the same, as if every process reached them.
 */
function idOf(path: string, arriving: string): string | null {
  const file = join(path, "directory-id");
  return existsSync(file) || madeId(file, join(arriving, "directory-id")) ? readFileSync(file, "utf8") : null;
}

/** Linked when it is whole, so that nobody reads a part of it. */
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

/** What was made in it is there after a loss of power. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

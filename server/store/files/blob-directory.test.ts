import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFilesBelow } from "../../../tests/support/processes/open-files.ts";
import { openBlobDirectory } from "./blob-directory.ts";
import type { BlobStore } from "./blobs.ts";

const SIZE = 200_000;
let path: string;
let blobs: BlobStore;
beforeAll(async () => {
  path = mkdtempSync(join(tmpdir(), "gatehouse blobs-"));
  blobs = await openBlobDirectory(path);
  await blobs.write("file-0001", pieces());
});
afterAll(() => rmSync(path, { recursive: true }));

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < SIZE; at += 1_000) yield new Uint8Array(1_000).fill(at / 1_000);
}

const read = async (start: number, end: number) =>
  new Uint8Array(await new Response(await blobs.read("file-0001", start, end)).arrayBuffer());

test("a file is read completely and in part, and reading a missing file or beyond its end fails", async () => {
  expect((await read(0, SIZE)).byteLength).toBe(SIZE);
  expect([...(await read(998, 1_002))]).toEqual([0, 0, 1, 1]);
  expect((await read(5, 5)).byteLength).toBe(0);
  expect(await read(SIZE - 1, SIZE + 1).catch((error: Error) => error.message)).toContain("fewer than their record says");
  expect(await blobs.read("file-0002", 0, 1).catch((error: NodeJS.ErrnoException) => error.code)).toBe("ENOENT");
  expect(openFilesBelow(path)).toBe(0);
});

test("a file that is not read, or not read to the end, is closed", async () => {
  for (let n = 0; n < 5; n++) await blobs.read("file-0001", 0, SIZE);
  expect(openFilesBelow(path)).toBe(0);
  const reader = (await blobs.read("file-0001", 0, SIZE)).getReader();
  await reader.read();
  expect(openFilesBelow(path)).toBe(1);
  await reader.cancel();
  expect(openFilesBelow(path)).toBe(0);
});

test("a written file survives a power loss: its directory entry and its folder's are synced to disk", async () => {
  const any = await open(path);
  const handles = Object.getPrototypeOf(any) as FileHandle;
  await any.close();
  const synced: string[] = [];
  const { sync } = handles;
  const spy = spyOn(handles, "sync").mockImplementation(function (this: FileHandle) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  });
  await blobs.write("file-00zz", pieces());
  await blobs.write("file-01zz", pieces());
  spy.mockRestore();
  expect(synced).toEqual([path, join(path, "zz"), join(path, "zz")]);
});

/** A directory below which short names still fit into a path, but the name that an ID is written under does not. */
function deepDirectory(): string {
  const above = join(path, crypto.randomUUID());
  const filled = join(above, ...Array.from({ length: 19 }, () => "x".repeat(200)));
  const deep = join(filled, "x".repeat(4_075 - filled.length - 1));
  mkdirSync(deep, { recursive: true });
  return deep;
}

test("a directory with an ID opens even if nothing can be written, as on a full disk", async () => {
  const deep = deepDirectory();
  writeFileSync(join(deep, "directory-id"), "the id");
  expect((await openBlobDirectory(deep)).directory).toBe("the id");
});

test("files are stored even if no directory ID can be written", async () => {
  const opened = await openBlobDirectory(deepDirectory());
  expect(opened.directory).toBeNull();
  await opened.write("file-0001", pieces());
  expect(await opened.remove("file-0001")).toBe(true);
});

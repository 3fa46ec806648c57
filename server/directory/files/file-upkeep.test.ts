import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { removeDirectory } from "../../../tests/support/gateway.ts";
import { storedBytes } from "../../../tests/support/records/stored-bytes.ts";
import { systemClock } from "../../kernel/clock.ts";
import { jsonLog } from "../../kernel/log.ts";
import { openBlobDirectory } from "../../store/files/blob-directory.ts";
import type { BlobStore } from "../../store/files/blobs.ts";
import { moveFiles } from "../../store/files/files.ts";
import { directoryWatch, endFiles, removeBytes } from "./file-upkeep.ts";

/** Two gateways on one database, each storing files in its own data directory. */

let database: TestDatabase;
let dataDirs: [string, string];
let stores: [BlobStore, BlobStore];

beforeAll(async () => {
  database = await testDatabase();
  const made = async () => mkdtemp(join(tmpdir(), "gatehouse-test-"));
  dataDirs = [await made(), await made()];
  stores = [await openBlobDirectory(join(dataDirs[0], "files")), await openBlobDirectory(join(dataDirs[1], "files"))];
});
afterAll(async () => {
  await database.close();
  for (const path of dataDirs) await removeDirectory(path);
});

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("Dear all");
}

async function due(key: string, directory: string | null, since = Date.now()): Promise<void> {
  await stores[0].write(key, bytes());
  await database.db
    .insertInto("blobs_to_remove")
    .values({ key, directory, due_at: new Date(since - 1_000) })
    .execute();
}

const remove = (blobs: BlobStore) => removeBytes({ db: database.db, blobs });
const waiting = async () => (await database.db.selectFrom("blobs_to_remove").select("key").orderBy("key").execute()).map(({ key }) => key);

test("files in a data directory are deleted by the process that owns it, whichever process tries first", async () => {
  await due("file-noted", stores[0].directory);
  await due("file-of-before", null);
  await remove(stores[1]);
  expect(await waiting()).toEqual(["file-noted", "file-of-before"]);
  await remove(stores[0]);
  expect([await waiting(), await storedBytes(dataDirs[0])]).toEqual([[], []]);
});

test("a file without a known directory is looked for by every process for a day", async () => {
  await due("file-of-none", null, Date.now() - 86_400_000);
  await stores[0].remove("file-of-none");
  await remove(stores[1]);
  expect(await waiting()).toEqual([]);
});

test("a file in a directory that no process owns any more is given up after a month", async () => {
  const daysAgo = (days: number) => Date.now() - days * 86_400_000;
  await directoryWatch({ db: database.db, blobs: stores[0], log: jsonLog("error") })();
  await due("file-in-lost", "lost", daysAgo(31));
  await due("file-scaled-down", "scaled down", daysAgo(29));
  await due("file-in-living", stores[0].directory, daysAgo(31));
  await endFiles({ db: database.db, clock: systemClock() });
  expect(await waiting()).toEqual(["file-in-living", "file-scaled-down"]);
  await stores[0].remove("file-in-lost");
  await remove({ ...stores[0], directory: null });
  expect(await waiting()).toEqual([]);
});

test("a directory keeps its ID after a restart, and processes with a bucket delete files of every directory", async () => {
  const again = await openBlobDirectory(join(dataDirs[0], "files"));
  expect([again.directory, stores[1].directory === again.directory]).toEqual([stores[0].directory, false]);
  await due("file-in-bucket", stores[1].directory);
  const removed: string[] = [];
  await remove({ ...stores[0], directory: null, remove: async (key) => removed.push(key) > 0 && stores[0].remove(key) });
  expect([removed, await waiting()]).toEqual([["file-in-bucket"], []]);
});

test("files restored from a backup are deleted by the owner of the directory they were restored into", async () => {
  await due("file-restored", "a directory of the gateway that was backed up");
  await moveFiles(database.db, stores[0].directory);
  await remove(stores[1]);
  expect(await waiting()).toEqual(["file-restored"]);
  await remove(stores[0]);
  expect([await waiting(), await storedBytes(dataDirs[0])]).toEqual([[], []]);
});

test("processes that do not share their file storage log it once each", async () => {
  const lines: string[] = [];
  const log = jsonLog("warn", (line) => lines.push(line));
  const [first, second] = stores.map((blobs) => directoryWatch({ db: database.db, blobs, log }));
  await first?.();
  expect(lines).toEqual([]);
  for (const watch of [second, first, second]) await watch?.();
  expect(lines.map((line) => [JSON.parse(line).event, JSON.parse(line).directory])).toEqual([
    ["files_not_shared", stores[1].address],
    ["files_not_shared", stores[0].address],
  ]);
});

import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileOf, storedFiles } from "./contents.ts";

test("a file deleted during a backup is left out, or included completely if its copy had begun", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "gatehouse-backup-"));
  const folder = join(dataDir, "files", "ab");
  mkdirSync(folder, { recursive: true });
  for (const key of ["oneab", "twoab"]) writeFileSync(join(folder, key), key);
  const listed = [...storedFiles(dataDir)];
  const begun = fileOf(dataDir, "oneab");
  rmSync(folder, { recursive: true });
  expect(listed.sort()).toEqual(["oneab", "twoab"]);
  expect(fileOf(dataDir, "twoab")).toBeNull();
  let read = "";
  for await (const piece of begun ?? []) read += Buffer.from(piece).toString();
  expect(read).toBe("oneab");
  rmSync(dataDir, { recursive: true });
});

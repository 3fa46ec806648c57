import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { directorySource } from "./directory-source.ts";
import { FileUnreadable } from "./source.ts";

test("a missing path in a directory source, or one that is no regular file, is null; an unreadable file is an error", async () => {
  const place = mkdtempSync(join(tmpdir(), "directory-source-"));
  try {
    writeFileSync(join(place, "a.txt"), "a");
    symlinkSync("a.txt", join(place, "link.txt"));
    const source = directorySource(place);
    expect(await source.read("a.txt")).toEqual(new TextEncoder().encode("a"));
    for (const path of ["b.txt", "link.txt", "a.txt/b", ".", "x".repeat(300)]) expect(await source.read(path), path).toBeNull();
  } finally {
    rmSync(place, { recursive: true });
  }
  // Unreadable even for root.
  await expect(directorySource("/proc/sys/vm").read("compact_memory")).rejects.toBeInstanceOf(FileUnreadable);
});

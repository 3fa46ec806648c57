import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { PATIENCE_MS } from "../patience.ts";

/** The names of all files in a gateway's file store, complete or still arriving. */
export async function storedBytes(dataDir: string): Promise<string[]> {
  const found = await readdir(join(dataDir, "files"), { recursive: true, withFileTypes: true });
  const names = found.filter((entry) => entry.isFile()).map(({ name }) => name);
  return names.filter((name) => name !== "directory-id");
}

/** Resolves when the file store is empty. */
export async function nothingStored(dataDir: string): Promise<void> {
  for (
    const end = Date.now() + PATIENCE_MS;
    (await storedBytes(dataDir)).length > 0;
    await new Promise((resolve) => setTimeout(resolve, 20))
  )
    if (Date.now() > end) throw new Error("bytes of files stayed");
}

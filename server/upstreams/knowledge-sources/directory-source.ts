import { constants } from "node:fs";
import { lstat, open, opendir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { type KnowledgeSource, MOST_FILES, type SourceFile, SourceUnavailable } from "./source.ts";

const DEEPEST = 32;

/** The place of a connector, which is below the folder of its tenant wherever links lead. */
export async function placeBelow(root: string, tenantId: string, location: string): Promise<string> {
  const folder = await realpath(join(root, encodeURIComponent(tenantId))).catch(() => {
    throw new SourceUnavailable("The tenant has no folder in GW_KNOWLEDGE_DIR.");
  });
  const place = await realpath(join(folder, location)).catch(() => null);
  if (place === null || !(place === folder || place.startsWith(folder + sep)))
    throw new SourceUnavailable("There is nothing at its location.");
  return place;
}

/** A directory as it stands. Links are not followed, and what begins with a dot is not there. */
export function directorySource(place: string): KnowledgeSource {
  async function* walk(folder: string, path: string, depth: number, seen: { count: number }): AsyncGenerator<SourceFile> {
    if (depth > DEEPEST) return;
    for await (const entry of await opendir(folder)) {
      if (entry.name.startsWith(".")) continue;
      if (++seen.count > MOST_FILES) throw new SourceUnavailable(`It has more than ${MOST_FILES} files.`);
      const [at, name] = [join(folder, entry.name), path === "" ? entry.name : `${path}/${entry.name}`];
      if (entry.isDirectory()) yield* walk(at, name, depth + 1, seen);
      else if (entry.isFile()) yield { path: name, sizeBytes: (await lstat(at)).size };
    }
  }
  return {
    files: () => walk(place, "", 0, { count: 0 }),
    async read(path) {
      // Folders on the way may have become links meanwhile: where the file really is decides.
      const at = await realpath(join(place, path)).catch(() => null);
      if (at === null || at !== join(place, path)) return null;
      const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
      try {
        return file === null || !(await file.stat()).isFile() ? null : new Uint8Array(await file.readFile());
      } finally {
        await file?.close();
      }
    },
    close: async () => undefined,
  };
}

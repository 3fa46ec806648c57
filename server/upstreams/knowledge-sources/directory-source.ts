import { constants } from "node:fs";
import { type FileHandle, lstat, open, opendir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { FileUnreadable, type KnowledgeSource, MAX_FILE_BYTES, MAX_FILES, type SourceFile, SourceUnavailable } from "./source.ts";

const MAX_DEPTH = 32;
/** Error codes for something that does not exist or is not a file. */
const NO_FILE = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "ENXIO"]);

function nothingThere({ code }: NodeJS.ErrnoException): null {
  if (NO_FILE.has(code ?? "")) return null;
  throw new FileUnreadable();
}

/** The real path of a connector's folder; throws unless it is in its tenant's folder after resolving links. */
export async function placeBelow(root: string, tenantId: string, location: string): Promise<string> {
  const folder = await realpath(join(root, encodeURIComponent(tenantId))).catch(() => {
    throw new SourceUnavailable("The tenant has no folder in GW_KNOWLEDGE_DIR.");
  });
  const place = await realpath(join(folder, location)).catch(() => null);
  if (place === null || !(place === folder || place.startsWith(folder + sep)))
    throw new SourceUnavailable("There is nothing at its location.");
  return place;
}

/** Null if the file is too large, even if it grows while it is read. */
async function bytesOf(file: FileHandle): Promise<Uint8Array | null> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    length += piece.byteLength;
    if (length > MAX_FILE_BYTES) return null;
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces, length));
}

/** A directory in its current state. Links are not followed, and names that begin with a dot are skipped. */
export function directorySource(place: string): KnowledgeSource {
  async function* walk(folder: string, path: string, depth: number, seen: { count: number }): AsyncGenerator<SourceFile> {
    if (depth > MAX_DEPTH) return;
    const entries = await opendir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" && path !== "") return [];
      throw new SourceUnavailable(`Its folder ${path === "" ? "" : `${path} `}could not be read.`);
    });
    for await (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      if (++seen.count > MAX_FILES) throw new SourceUnavailable(`It has more than ${MAX_FILES} files.`);
      const [at, name] = [join(folder, entry.name), path === "" ? entry.name : `${path}/${entry.name}`];
      if (entry.isDirectory()) yield* walk(at, name, depth + 1, seen);
      // A name that is not UTF-8 cannot be opened, and a file may have been deleted meanwhile.
      else if (entry.isFile()) yield { path: name, sizeBytes: (await lstat(at).catch(() => null))?.size ?? null };
    }
  }
  return {
    files: () => walk(place, "", 0, { count: 0 }),
    async read(path) {
      // A folder may have been replaced by a link meanwhile, so the real path is checked.
      const at = await realpath(join(place, path)).catch(nothingThere);
      if (at === null || at !== join(place, path)) return null;
      const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW).catch(nothingThere);
      try {
        return file === null || !(await file.stat()).isFile() ? null : await bytesOf(file);
      } catch {
        throw new FileUnreadable();
      } finally {
        await file?.close();
      }
    },
    close: async () => undefined,
  };
}

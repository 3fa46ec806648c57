import type { Readable } from "node:stream";
import { runGit } from "../git/run-git.ts";
import { type KnowledgeSource, MAX_FILE_BYTES, MAX_FILES, SourceUnavailable } from "./source.ts";

/** Runs a git command. `input`: its standard input; `mostMs`: the overall timeout. Throws `SourceUnavailable`. */
export const git = async (place: string, args: readonly string[], input?: Readable, mostMs?: number): Promise<Buffer> => {
  const output = await runGit(place, args, MAX_FILE_BYTES, input, mostMs);
  if (typeof output === "string")
    throw new SourceUnavailable(output === "missing" ? "There is no git on this machine." : "It is no Git repository that can be read.");
  return output;
};

/** The files of a commit, HEAD by default; links and submodules are skipped. */
export async function gitSource(place: string, of = "HEAD"): Promise<KnowledgeSource> {
  const commit = (await git(place, ["rev-parse", "--verify", `${of}^{commit}`])).toString().trim();
  const blobs = new Map<string, { readonly id: string; readonly sizeBytes: number }>();
  for (const line of (await git(place, ["ls-tree", "-r", "-z", "-l", "--full-tree", commit])).toString().split("\0")) {
    const found = /^100(?:644|755) blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(line);
    if (found === null) continue;
    if (blobs.size >= MAX_FILES) throw new SourceUnavailable(`It has more than ${MAX_FILES} files.`);
    blobs.set(found[3] as string, { id: found[1] as string, sizeBytes: Number(found[2]) });
  }
  return {
    async *files() {
      for (const [path, { sizeBytes }] of blobs) yield { path, sizeBytes };
    },
    async read(path) {
      const blob = blobs.get(path);
      return blob === undefined || blob.sizeBytes > MAX_FILE_BYTES ? null : new Uint8Array(await git(place, ["cat-file", "blob", blob.id]));
    },
    close: async () => undefined,
  };
}

import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { type KnowledgeSource, MOST_FILES, SourceUnavailable } from "./source.ts";

const SECONDS = 60;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_MEMORY_KIB = 2 * 1024 * 1024;
/** Nothing of the machine's or its users' settings, and no program that a repository might name. */
const ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  LC_ALL: "C",
};
const SETTINGS = [
  "safe.directory=*",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "protocol.allow=never",
  "pack.threads=1",
  "core.bigFileThreshold=8m",
];

/** What a commit of a Git repository holds, its head unless told otherwise: files alone, no links and nothing of repositories in it. */
export async function gitSource(place: string, of = "HEAD"): Promise<KnowledgeSource> {
  const commit = (await git(place, ["rev-parse", "--verify", `${of}^{commit}`])).toString().trim();
  const blobs = new Map<string, { readonly id: string; readonly sizeBytes: number }>();
  for (const line of (await git(place, ["ls-tree", "-r", "-z", "-l", "--full-tree", commit])).toString().split("\0")) {
    const found = /^100(?:644|755) blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(line);
    if (found === null) continue;
    if (blobs.size >= MOST_FILES) throw new SourceUnavailable(`It has more than ${MOST_FILES} files.`);
    blobs.set(found[3] as string, { id: found[1] as string, sizeBytes: Number(found[2]) });
  }
  return {
    async *files() {
      for (const [path, { sizeBytes }] of blobs) yield { path, sizeBytes };
    },
    async read(path) {
      const blob = blobs.get(path);
      return blob === undefined ? null : new Uint8Array(await git(place, ["cat-file", "blob", blob.id]));
    },
    close: async () => undefined,
  };
}

/** Git with a command, held to its memory and its time; `input`: what it reads. */
export function git(place: string, args: readonly string[], input?: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
    // What is packed small may be made to unpack to anything.
    const bounded = ["-c", `ulimit -v ${MOST_MEMORY_KIB} && exec git "$@"`, "git"];
    const child = spawn("/bin/sh", [...bounded, ...settings, "-C", place, ...args], {
      env: ENVIRONMENT,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "ignore"],
      timeout: SECONDS * 1000,
    });
    if (input !== undefined && child.stdin !== null) {
      // Of the two, whoever ends first with a fault is told by how the command ends.
      child.stdin.on("error", () => undefined);
      input.on("error", () => child.kill("SIGKILL"));
      input.pipe(child.stdin);
    }
    const pieces: Buffer[] = [];
    let length = 0;
    child.stdout?.on("data", (piece: Buffer) => {
      length += piece.byteLength;
      if (length > MOST_BYTES) child.kill("SIGKILL");
      else pieces.push(piece);
    });
    child.on("error", () => reject(new SourceUnavailable("There is no git on this machine.")));
    child.on("close", (code) => {
      if (code === 0 && length <= MOST_BYTES) resolve(Buffer.concat(pieces));
      else reject(new SourceUnavailable("It is no Git repository that can be read."));
    });
  });
}

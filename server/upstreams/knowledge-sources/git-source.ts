import { spawn } from "node:child_process";
import { type KnowledgeSource, MOST_FILES, SourceUnavailable } from "./source.ts";

const SECONDS = 60;
const MOST_BYTES = 64 * 1024 * 1024;
/** Nothing of the machine's or its users' settings, and no program that a repository might name. */
const ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  LC_ALL: "C",
};
const SETTINGS = ["safe.directory=*", "core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never"];

/** What the head of a Git repository holds: files alone, no links and nothing of repositories in it. */
export async function gitSource(place: string): Promise<KnowledgeSource> {
  const commit = (await git(place, ["rev-parse", "--verify", "HEAD^{commit}"])).toString().trim();
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

function git(place: string, args: readonly string[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
    const child = spawn("git", [...settings, "-C", place, ...args], {
      env: ENVIRONMENT,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: SECONDS * 1000,
    });
    const pieces: Buffer[] = [];
    let length = 0;
    child.stdout.on("data", (piece: Buffer) => {
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

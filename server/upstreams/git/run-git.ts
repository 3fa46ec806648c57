import { spawn } from "node:child_process";
import type { Readable } from "node:stream";

/** CPU time limit: a crafted pack may take endless work. */
const MAX_SECONDS = 60;
/** Ignores the configuration of the machine and its users, and prevents programs that a repository may name from running. */
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
/** Address space limit: a crafted pack may unpack to any size. */
const MAX_MEMORY_KIB = 2 * 1024 * 1024;

/**
 * Runs git and returns its output; `missing`: git is not installed; `failed`: it failed, or its output exceeds `most` bytes. `given`: its
 * standard input; `mostMs`: the overall timeout.
 */
export function runGit(
  place: string,
  args: readonly string[],
  most: number,
  given: string | Readable = "",
  mostMs = MAX_SECONDS * 1000,
): Promise<Buffer | "missing" | "failed"> {
  return new Promise((resolve) => {
    const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
    const command = ["git", ...settings, "-C", place, ...args];
    const held = `ulimit -t ${MAX_SECONDS}; ulimit -v ${MAX_MEMORY_KIB} 2>/dev/null; exec "$@"`;
    const child = spawn("/bin/sh", ["-c", held, "sh", ...command], {
      env: ENVIRONMENT,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: mostMs,
      killSignal: "SIGKILL",
    });
    const pieces: Buffer[] = [];
    let length = 0;
    child.stdout.on("data", (piece: Buffer) => {
      length += piece.byteLength;
      if (length > most) child.kill("SIGKILL");
      else pieces.push(piece);
    });
    // Git may end without reading its input.
    child.stdin.on("error", () => undefined);
    if (typeof given === "string") child.stdin.end(given);
    else {
      given.on("error", () => child.kill("SIGKILL"));
      given.pipe(child.stdin);
    }
    child.on("error", () => resolve("missing"));
    // The shell's exit code for a command that does not exist.
    child.on("close", (code) => resolve(code === 127 ? "missing" : code === 0 && length <= most ? Buffer.concat(pieces) : "failed"));
  });
}

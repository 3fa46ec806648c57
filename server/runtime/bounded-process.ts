import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BoundedEnd, RunBounded } from "../kernel/scheduling/bounded-run.ts";

/** Exit code of a program that ran out of memory. */
const OUT_OF_MEMORY = 70;
/** Shell prefix that applies the limits before the program starts. Not every system supports `-v`. */
const HELD = 'ulimit -c 0; ulimit -t "$2"; ulimit -v "$1" 2>/dev/null; shift 2; exec "$@"';

export const runBounded: RunBounded = ({ program, argument, input, seconds, memoryBytes, outputBytes }) =>
  new Promise((resolve) => {
    const command = [process.execPath, "--smol", fileURLToPath(program), argument];
    const child = spawn("/bin/sh", ["-c", HELD, "sh", String(Math.floor(memoryBytes / 1024)), String(seconds + 1), ...command], {
      env: { BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let ended: BoundedEnd["kind"] | null = null;
    let complaint = "";
    const output: Buffer[] = [];
    let length = 0;
    const end = (kind: BoundedEnd["kind"]) => {
      ended ??= kind;
      child.kill("SIGKILL");
    };
    const deadline = setTimeout(() => end("time"), seconds * 1000);
    const gone = () => child.kill("SIGKILL");
    process.once("exit", gone);
    child.stdout.on("data", (piece: Buffer) => {
      length += piece.byteLength;
      if (length > outputBytes) end("output");
      else output.push(piece);
    });
    child.stderr.on("data", (piece: Buffer) => {
      complaint = (complaint + piece.toString()).slice(-4_000);
    });
    child.on("error", () => (ended ??= "crash"));
    child.on("close", (code, signal) => {
      clearTimeout(deadline);
      process.off("exit", gone);
      if (ended === null && code === 0) return resolve({ kind: "done", output: new Uint8Array(Buffer.concat(output)) });
      const memory = code === OUT_OF_MEMORY || /out of memory|alloc|memory/i.test(complaint);
      const kind = ended ?? (signal === "SIGXCPU" ? "time" : memory ? "memory" : "crash");
      resolve({ kind: kind === "done" ? "crash" : kind });
    });
    // A process that exits before reading all input reports the reason when it closes.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });

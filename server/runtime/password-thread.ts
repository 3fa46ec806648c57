import { dlopen } from "bun:ffi";
import { parentPort } from "node:worker_threads";
import type { HashJob, HashJobDone } from "./passwords.ts";

/** OWASP's first argon2id choice: 19 MiB, two passes. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
/** The length of what it hashes protects it, so the cost is low. */
const BCRYPT = { algorithm: "bcrypt", cost: 8 } as const;
/** Added to what the process has: a third of the share of whoever else wants the processor, all of it when nobody does. */
const NICENESS = 5;

/** On Linux a thread has a niceness of its own; elsewhere it is the process's, which stays as it is. */
function stepBack(): void {
  if (process.platform !== "linux") return;
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      dlopen(name, { nice: { args: ["int"], returns: "int" } }).symbols.nice(NICENESS);
      return;
    } catch {
      // Another C library; the next name.
    }
  }
}

function work({ id, kind, text, hash }: HashJob): HashJobDone {
  try {
    if (hash !== null) return { id, result: Bun.password.verifySync(text, hash, kind) };
    return { id, result: Bun.password.hashSync(text, kind === "bcrypt" ? BCRYPT : ARGON2ID) };
  } catch {
    // A text that is no hash verifies nothing.
    return { id, result: false };
  }
}

stepBack();
parentPort?.on("message", (job: HashJob) => parentPort?.postMessage(work(job), []));

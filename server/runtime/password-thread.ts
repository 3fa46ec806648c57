import { parentPort } from "node:worker_threads";
import { cLibrary } from "./c-library.ts";
import type { HashJob, HashJobDone } from "./passwords.ts";

/** OWASP's first recommendation for argon2id: 19 MiB, two passes. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
/** The hashed codes are random, so a low cost is enough. */
const BCRYPT = { algorithm: "bcrypt", cost: 8 } as const;
/** Added to the process's niceness: about a third of the CPU share of competing threads, and all of it when there are none. */
const NICENESS = 5;

/** Only on Linux does niceness apply to a single thread; elsewhere nothing is changed. */
function stepBack(): void {
  if (process.platform === "linux") cLibrary({ nice: { args: ["int"], returns: "int" } })?.symbols.nice(NICENESS);
}

function work({ id, kind, text, hash }: HashJob): HashJobDone {
  try {
    if (hash !== null) return { id, result: Bun.password.verifySync(text, hash, kind) };
    return { id, result: Bun.password.hashSync(text, kind === "bcrypt" ? BCRYPT : ARGON2ID) };
  } catch {
    // A string that is not a valid hash matches nothing.
    return { id, result: false };
  }
}

stepBack();
parentPort?.on("message", (job: HashJob) => parentPort?.postMessage(work(job), []));

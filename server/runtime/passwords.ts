import { randomBytes } from "node:crypto";
import { Worker } from "node:worker_threads";

export interface HashJob {
  readonly id: number;
  readonly kind: "argon2id" | "bcrypt";
  readonly text: string;
  /** Null to create a hash, else the hash to verify against. */
  readonly hash: string | null;
}

export interface HashJobDone {
  readonly id: number;
  /** The new hash, or whether the text matches. */
  readonly result: string | boolean;
}

interface Waiting {
  resolve(result: string | boolean): void;
  reject(error: Error): void;
}

const waiting = new Map<number, Waiting>();
/** The thread takes 5 MB, and 20 ms to start. */
const THREAD_KEPT_MS = 10_000;
let thread: Worker | undefined;
let idle: ReturnType<typeof setTimeout> | undefined;
let lastId = 0;

/** A dedicated thread: Bun's thread pool also serves disk I/O, which calls wait for. */
function startThread(): Worker {
  const started = new Worker(new URL("./password-thread.ts", import.meta.url));
  started.on("message", ({ id, result }: HashJobDone) => {
    waiting.get(id)?.resolve(result);
    waiting.delete(id);
    if (waiting.size > 0) return;
    started.unref();
    idle = setTimeout(() => {
      if (thread === started) thread = undefined;
      void started.terminate();
    }, THREAD_KEPT_MS).unref();
  });
  started.on("error", (error: Error) => {
    if (thread === started) thread = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  });
  return started;
}

function done(job: Omit<HashJob, "id">): Promise<string | boolean> {
  clearTimeout(idle);
  thread ??= startThread();
  const id = ++lastId;
  const workerThread = thread;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    workerThread.ref();
    workerThread.postMessage({ id, ...job } satisfies HashJob, []);
  });
}

/** Argon2id, slow by design. Runs one at a time per process, on a low-priority thread. */
export async function hashPassword(text: string): Promise<string> {
  return (await done({ kind: "argon2id", text: text.normalize("NFC"), hash: null })) as string;
}

/** False for a wrong password and for an invalid hash. */
export async function verifyPassword(text: string, hash: string): Promise<boolean> {
  // Keyboards encode the same letters differently, and older hashes may be of any normalization form.
  for (const form of new Set([text.normalize("NFC"), text, text.normalize("NFD")]))
    if ((await done({ kind: "argon2id", text: form, hash })) === true) return true;
  return false;
}

/** The form of our hashes with random bytes as its digest: the hash of no known text, made without hashing anything. */
const unknownUser = `$argon2id$v=19$m=19456,t=2,p=1$${unpadded(randomBytes(32))}$${unpadded(randomBytes(32))}`;

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

/** Takes as long as a real verification and is never true. Run it for unknown users, so that timing does not reveal who exists. */
export async function dummyVerify(text = ""): Promise<false> {
  await verifyPassword(text, unknownUser);
  return false;
}

/** Bcrypt, for short random codes. Runs on the same thread. */
export async function hashCode(text: string): Promise<string> {
  return (await done({ kind: "bcrypt", text, hash: null })) as string;
}

export async function verifyCode(text: string, hash: string): Promise<boolean> {
  return (await done({ kind: "bcrypt", text, hash })) === true;
}

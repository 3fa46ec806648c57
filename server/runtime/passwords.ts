import { Worker } from "node:worker_threads";

export interface HashJob {
  readonly id: number;
  readonly kind: "argon2id" | "bcrypt";
  readonly text: string;
  /** Null: one is to be made. */
  readonly hash: string | null;
}

export interface HashJobDone {
  readonly id: number;
  /** The hash made, or whether the text is the one it was made of. */
  readonly result: string | boolean;
}

interface Waiting {
  resolve(result: string | boolean): void;
  reject(error: Error): void;
}

const waiting = new Map<number, Waiting>();
let thread: Worker | undefined;
let lastId = 0;

/** A thread that hashes and nothing else: those that Bun shares out also wait for the disk, which calls wait for. */
function startThread(): Worker {
  const started = new Worker(new URL("./password-thread.ts", import.meta.url));
  started.on("message", ({ id, result }: HashJobDone) => {
    waiting.get(id)?.resolve(result);
    waiting.delete(id);
    if (waiting.size === 0) started.unref();
  });
  started.on("error", (error: Error) => {
    if (thread === started) thread = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  });
  return started;
}

function done(job: Omit<HashJob, "id">): Promise<string | boolean> {
  thread ??= startThread();
  const id = ++lastId;
  const asked = thread;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    asked.ref();
    asked.postMessage({ id, ...job } satisfies HashJob, []);
  });
}

/** Argon2id, slow on purpose. One at a time in the process, on a thread that gives way to everything else. */
export async function hashPassword(text: string): Promise<string> {
  return (await done({ kind: "argon2id", text: text.normalize("NFC"), hash: null })) as string;
}

/** False for a wrong password and for a text that is no password hash. */
export async function verifyPassword(text: string, hash: string): Promise<boolean> {
  // Keyboards differ in how they write the same letters. Hashes made before passwords were composed may be of any form.
  for (const form of new Set([text.normalize("NFC"), text, text.normalize("NFD")]))
    if ((await done({ kind: "argon2id", text: form, hash })) === true) return true;
  return false;
}

let unknownUser: Promise<string> | undefined;

/** Takes as long as a real verification and is never true: run it for an unknown user, or timing tells who exists. */
export async function dummyVerify(text = ""): Promise<false> {
  unknownUser ??= hashPassword(crypto.randomUUID());
  await verifyPassword(text, await unknownUser);
  return false;
}

/** Bcrypt, for short texts that are random. On the same thread. */
export async function hashCode(text: string): Promise<string> {
  return (await done({ kind: "bcrypt", text, hash: null })) as string;
}

export async function verifyCode(text: string, hash: string): Promise<boolean> {
  return (await done({ kind: "bcrypt", text, hash })) === true;
}

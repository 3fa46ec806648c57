import type { KeptConversation } from "./conversation.ts";

const NAME = "gatehouse.conversations";
const STORE = "conversations";

function asPromise<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("the browser's storage failed")));
  });
}

let opened: Promise<IDBDatabase> | null = null;

function database(): Promise<IDBDatabase> {
  opened ??= (() => {
    const request = indexedDB.open(NAME, 1);
    request.addEventListener("upgradeneeded", () => request.result.createObjectStore(STORE, { keyPath: "handle" }));
    return asPromise(request);
  })();
  return opened;
}

async function store(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  return (await database()).transaction(STORE, mode).objectStore(STORE);
}

/** The person's conversations, the newest first. They are nowhere but in this browser. */
export async function readConversations(owner: string): Promise<readonly KeptConversation[]> {
  const all = (await asPromise((await store("readonly")).getAll())) as KeptConversation[];
  return all.filter((one) => one.owner === owner).sort((a, b) => (a.changedAt < b.changedAt ? 1 : -1));
}

export async function readConversation(owner: string, handle: string): Promise<KeptConversation | null> {
  const found = (await asPromise((await store("readonly")).get(handle))) as KeptConversation | undefined;
  return found?.owner === owner ? found : null;
}

const channel = new BroadcastChannel(NAME);

export async function keepConversation(conversation: KeptConversation): Promise<void> {
  await asPromise((await store("readwrite")).put(conversation));
  // A channel is of one origin already.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(conversation.handle);
}

/** Hears of each conversation that another tab kept; answers with what ends that. */
export function onKeptElsewhere(listener: (handle: string) => void): () => void {
  const hear = ({ data }: MessageEvent) => listener(String(data));
  channel.addEventListener("message", hear);
  return () => channel.removeEventListener("message", hear);
}

export async function forgetConversation(handle: string): Promise<void> {
  await asPromise((await store("readwrite")).delete(handle));
}

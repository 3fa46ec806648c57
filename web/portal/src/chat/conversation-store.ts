import type { StoredConversation } from "./conversation.ts";
import { mergeConversations } from "./merge-turns.ts";
import { newUlid } from "./ulid.ts";

const NAME = "gatehouse.conversations";
const STORE = "conversations";

function asPromise<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("the browser's storage failed")));
  });
}

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(STORE, { keyPath: "handle" }));
  return asPromise(request);
}

let opened: Promise<IDBDatabase> | null = null;

function database(): Promise<IDBDatabase> {
  opened ??= open().catch((error: unknown) => {
    opened = null;
    throw error;
  });
  return opened;
}

async function stored<T>(request: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return asPromise(request((await database()).transaction(STORE).objectStore(STORE)));
}

/** Resolves when the transaction is complete. A request that succeeded may still be rolled back, for example if the disk is full. */
async function written<T>(work: (store: IDBObjectStore) => Promise<T>): Promise<T> {
  const transaction = (await database()).transaction(STORE, "readwrite");
  const ended = new Promise<void>((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("the browser's storage failed")));
  });
  const [made] = await Promise.all([work(transaction.objectStore(STORE)), ended]);
  return made;
}

export const newestFirst = (all: readonly StoredConversation[]): readonly StoredConversation[] =>
  all.toSorted((a, b) => (a.changedAt < b.changedAt ? 1 : -1));

/** The person's conversations, newest first. They are stored only in this browser. */
export async function readConversations(owner: string): Promise<readonly StoredConversation[]> {
  const all = (await stored((store) => store.getAll())) as StoredConversation[];
  return newestFirst(all.filter((one) => one.owner === owner));
}

export async function readConversation(owner: string, handle: string): Promise<StoredConversation | null> {
  const found = (await stored((store) => store.get(handle))) as StoredConversation | undefined;
  return found?.owner === owner ? found : null;
}

/** A change to a conversation that a tab broadcasts to the others. */
interface Change {
  readonly handle: string;
  readonly isGone: boolean;
}

const channel = new BroadcastChannel(NAME);

function notifyOtherTabs(change: Change): void {
  // A BroadcastChannel reaches only its own origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(change);
}

/** Stores the conversation, merged with what other tabs stored since `known`. Resolves to what is stored. */
export async function keepConversation(conversation: StoredConversation, known: StoredConversation): Promise<StoredConversation> {
  const { handle, owner } = conversation;
  const kept = await written(async (store) => {
    const found = (await asPromise(store.get(handle))) as StoredConversation | undefined;
    const isFromElsewhere = found?.owner === owner && found.write !== known.write;
    const together = { ...(isFromElsewhere ? mergeConversations(known, conversation, found) : conversation), write: newUlid() };
    await asPromise(store.put(together));
    return together;
  });
  notifyOtherTabs({ handle, isGone: false });
  return kept;
}

export async function forgetConversation(handle: string): Promise<void> {
  await written((store) => asPromise(store.delete(handle)));
  notifyOtherTabs({ handle, isGone: true });
}

/** Calls `listener` when another tab stores or deletes (null) one of the person's conversations. Returns a function that unsubscribes. */
export function onChangedElsewhere(owner: string, listener: (handle: string, now: StoredConversation | null) => void): () => void {
  const receive = ({ data }: MessageEvent) => {
    const { handle, isGone } = data as Change;
    if (isGone) listener(handle, null);
    else void readConversation(owner, handle).then((now) => now !== null && listener(handle, now));
  };
  channel.addEventListener("message", receive);
  return () => channel.removeEventListener("message", receive);
}

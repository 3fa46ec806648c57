import { createHash } from "node:crypto";
import { reasonOf } from "../kernel/errors.ts";
import { NotSentError } from "../kernel/http/not-sent.ts";

export interface Valkey {
  /**
   * Runs a script, by its hash if the server has it. Rejects within the time limit if the server is unreachable; a busy server that is
   * still answering earlier commands is waited for. `NotSentError` means that the script cannot have run.
   */
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  close(): void;
}

const ANSWER_WITHIN_MS = 2_000;
const BUSY_FOR_MS = 30_000;
const CONNECT_WITHIN_MS = 2_000;
const RECONNECT_AFTER_MS = 500;

/**
 * A client for Valkey, or Redis 7 or newer. Commands are sent immediately and never queued while the server is unreachable: the caller
 * decides what to do then.
 */
export function openValkey(url: string): Valkey {
  const hashes = new Map<string, string>();
  let client: Bun.RedisClient | null = null;
  let connecting: Promise<Bun.RedisClient> | null = null;
  let failedAt = Number.NEGATIVE_INFINITY;
  let closed = false;
  /** When the server last answered. */
  let lastReplyAt = Number.NEGATIVE_INFINITY;
  let connectedAt = Number.NEGATIVE_INFINITY;

  /** Makes the next command reconnect: another server may be behind the address by now, which this connection would not notice. */
  function drop(connection: Bun.RedisClient): void {
    if (client === connection) client = null;
    connection.close();
  }

  function connect(): Promise<Bun.RedisClient> {
    if (client !== null) return Promise.resolve(client);
    if (connecting !== null) return connecting;
    if (closed || performance.now() - failedAt < RECONNECT_AFTER_MS) return Promise.reject(new NotSentError("the Valkey server is away"));
    const fresh = new Bun.RedisClient(url, {
      autoReconnect: false,
      enableOfflineQueue: false,
      enableAutoPipelining: false,
      connectionTimeout: CONNECT_WITHIN_MS,
    });
    Object.assign(fresh, {
      onclose() {
        if (client === fresh) client = null;
      },
    });
    connecting = within(fresh.connect(), CONNECT_WITHIN_MS)
      .then(() => {
        client = fresh;
        connectedAt = performance.now();
        return fresh;
      })
      .catch((error: unknown) => {
        failedAt = performance.now();
        fresh.close();
        throw new NotSentError(reasonOf(error), { cause: error });
      })
      .finally(() => {
        connecting = null;
      });
    return connecting;
  }

  function hashOf(script: string): string {
    let hash = hashes.get(script);
    if (hash === undefined) {
      hash = createHash("sha1").update(script).digest("hex");
      hashes.set(script, hash);
    }
    return hash;
  }

  async function send(script: string, args: string[]): Promise<unknown> {
    const connection = client ?? (await connect());
    try {
      return await connection.send("EVALSHA", [hashOf(script), ...args]).catch((error: Error) => {
        if (!String(error.message).includes("NOSCRIPT")) throw error;
        return connection.send("EVAL", [script, ...args]);
      });
    } catch (error) {
      // The server has become a replica.
      if (/READONLY|MASTERDOWN/.test(String((error as Error).message))) drop(connection);
      throw error;
    }
  }

  return {
    run(script, keys, args) {
      const sentAt = performance.now();
      const answer = send(script, [String(keys.length), ...keys, ...args]).then((value) => {
        lastReplyAt = performance.now();
        return value;
      });
      return within(
        answer,
        ANSWER_WITHIN_MS,
        () => (performance.now() - sentAt > BUSY_FOR_MS ? 0 : lastReplyAt + ANSWER_WITHIN_MS - performance.now()),
        () => {
          if (client !== null && lastReplyAt < sentAt && performance.now() - connectedAt > ANSWER_WITHIN_MS / 2) drop(client);
        },
      );
    },
    close() {
      closed = true;
      client?.close();
      client = null;
    },
  };
}

/** If this process was blocked, its timers fire before it has read responses that already arrived. */
const READ_FIRST_MS = 20;

/** Rejects after `ms`, extended by `more()` milliseconds as long as that is positive. `late` is called on the timeout. */
function within<T>(work: Promise<T>, ms: number, more: () => number = () => 0, late: () => void = () => undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    let read = false;
    const over = () => {
      const left = more();
      if (left <= 0 && read) {
        reject(new Error(`the Valkey server did not answer within ${ms} ms`));
        late();
      } else timer = setTimeout(over, Math.max(left, READ_FIRST_MS));
      read = left <= 0;
    };
    let timer = setTimeout(over, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

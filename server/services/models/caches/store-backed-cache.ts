import { BoundedMap } from "../../../directory/bounded-map.ts";
import { keptValueContext } from "../../../kernel/seal-contexts.ts";
import type { Call } from "../../../road/call.ts";
import type { CacheKind, CacheParts, CachedValue, StoredValue } from "./cache-store.ts";

const RETENTION_MS = 24 * 3_600_000;
/** Most characters waiting to be written. */
const MAX_WAITING = 32 * 1024 * 1024;
const WRITE_BATCH = 500;
/** Names per query: a request may contain any number of IDs, but the database limits the parameters of a statement. */
const READ_BATCH = 500;
/** How long a call waits for the store, and how long the store is not asked after it failed. */
const PATIENCE_MS = 3_000;
const AWAY_MS = 5_000;
/** How long an ID that the store does not know is not asked for again. */
const UNKNOWN_MS = 10_000;

interface Waiting {
  readonly row: StoredValue;
  /** Releases the answer that waits for this write. */
  readonly settle: () => void;
}

/**
 * Values that an answer leaves for the caller's following calls, for 24 hours, scoped to the caller: one credential never sees another's.
 * Reads try memory first, then the store, so that another process, or the same one after a restart, can continue the conversation. Values
 * are in the store before the answer ends, unless the store is unavailable.
 */
export class StoreBackedCache<Value> {
  private readonly kind: CacheKind<Value>;
  private readonly cached: BoundedMap<string, CachedValue<Value>>;
  private readonly parts: CacheParts;
  private readonly waiting = new BoundedMap<string, Waiting>(
    MAX_WAITING,
    ({ settle }) => settle(),
    ({ row }) => row.sealed.length,
  );
  private writing: Promise<void> | null = null;
  private awayUntil = 0;

  constructor(kind: CacheKind<Value>, parts: CacheParts) {
    this.kind = kind;
    this.parts = parts;
    this.cached = new BoundedMap(kind.most, undefined, ({ value }) => (value === null ? 1 : kind.weigh(value)));
  }

  /** Keyed by the IDs that later calls ask for. Null: there is no value. */
  keep(call: Call, values: ReadonlyMap<string, Value | null>): void {
    const until = this.parts.now() + RETENTION_MS;
    const written: Promise<void>[] = [];
    for (const [id, value] of values) {
      this.cached.set(keyOf(call, id), { value, until });
      const writing = value === null ? null : this.write(call, id, value, until);
      if (writing !== null) written.push(writing);
    }
    if (written.length > 0) call.keeping = Promise.all([call.keeping, this.settled(written)]);
  }

  /**
   * Cached values by ID; IDs without one are left out. Synchronous if memory knows all of them. Never fails: while the store is
   * unavailable, only memory is used.
   */
  find(call: Call, ids: readonly string[]): ReadonlyMap<string, Value> | Promise<ReadonlyMap<string, Value>> {
    const now = this.parts.now();
    const found = new Map<string, Value>();
    const unknown: string[] = [];
    for (const id of ids) {
      const kept = this.cached.get(keyOf(call, id));
      if (kept === undefined || kept.until <= now) unknown.push(id);
      else if (kept.value !== null) found.set(id, kept.value);
    }
    return unknown.length === 0 || this.awayUntil > now ? found : this.read(call, unknown, found);
  }

  /** Resolves when everything kept so far is in the store, or the store has failed. */
  async flush(): Promise<void> {
    while (this.waiting.size > 0 || this.writing !== null) {
      const before = this.waiting.size;
      await (this.writing ?? (this.writing = this.writeWaiting()));
      if (this.waiting.size >= before && before > 0) return;
    }
  }

  /** The write to wait for; null if the value stays in memory or the store is unavailable. */
  private write(call: Call, id: string, value: Value, until: number): Promise<void> | null {
    const tenantId = call.identity?.tenantId;
    if (tenantId === undefined || this.kind.outlives?.(call) === false) return null;
    const name = this.nameOf(call, id);
    const { promise, resolve } = Promise.withResolvers<void>();
    const row: StoredValue = {
      tenant_id: tenantId,
      name,
      sealed: this.parts.secrets.seal(JSON.stringify(value), keptValueContext(name)),
      expires_at: new Date(until),
    };
    // Only the newest value of a name is written.
    this.waiting.get(name)?.settle();
    this.waiting.set(name, { row, settle: resolve });
    if (this.awayUntil > this.parts.now()) return null;
    this.writing ??= this.writeWaiting();
    return promise;
  }

  /** Writes batches until nothing waits. After a failure, the rest waits for the next `keep` or `flush`. */
  private async writeWaiting(): Promise<void> {
    // Lets other values of the same answer join the batch.
    await Promise.resolve();
    try {
      while (this.waiting.size > 0) {
        const batch = [...this.waiting.values()].slice(0, WRITE_BATCH);
        await this.parts.store.write(batch.map(({ row }) => row));
        for (const one of batch) {
          if (this.waiting.get(one.row.name) === one) this.waiting.delete(one.row.name);
          one.settle();
        }
      }
    } catch (error) {
      this.away("kept_values_not_written", error);
      for (const { settle } of this.waiting.values()) settle();
    } finally {
      this.writing = null;
    }
  }

  private async settled(written: readonly Promise<void>[]): Promise<void> {
    try {
      await inTime(Promise.all(written));
    } catch (error) {
      this.away("kept_values_not_written", error);
    }
  }

  private async read(call: Call, ids: readonly string[], found: Map<string, Value>): Promise<ReadonlyMap<string, Value>> {
    try {
      for (let at = 0; at < ids.length; at += READ_BATCH) await this.readSome(call, ids.slice(at, at + READ_BATCH), found);
      // Bounded, so that one call's unknown IDs do not evict other callers' values.
      const unknown = ids.filter((id) => !found.has(id)).slice(0, READ_BATCH);
      for (const id of unknown) this.cached.set(keyOf(call, id), { value: null, until: this.parts.now() + UNKNOWN_MS });
    } catch (error) {
      this.away("kept_values_not_read", error);
    }
    return found;
  }

  private async readSome(call: Call, ids: readonly string[], found: Map<string, Value>): Promise<void> {
    const names = new Map(ids.map((id) => [this.nameOf(call, id), id]));
    for (const { name, sealed, expires_at } of await inTime(this.parts.store.read(call.identity?.tenantId ?? "", [...names.keys()]))) {
      const id = names.get(name);
      const value = this.opened(name, sealed);
      if (id === undefined || value === null) continue;
      this.cached.set(keyOf(call, id), { value, until: expires_at.getTime() });
      found.set(id, value);
    }
  }

  /** Null if it was sealed with another key. */
  private opened(name: string, sealed: string): Value | null {
    try {
      return JSON.parse(this.parts.secrets.open(sealed, keptValueContext(name))) as Value;
    } catch (error) {
      this.parts.log.warn("stored_value_not_decrypted", { kind: this.kind.name, error: error as Error });
      return null;
    }
  }

  private away(event: string, error: unknown): void {
    this.awayUntil = this.parts.now() + AWAY_MS;
    this.parts.log.warn(event, { kind: this.kind.name, error: error as Error });
  }

  private nameOf(call: Call, id: string): string {
    return this.parts.secrets.hmac(this.kind.name, keyOf(call, id));
  }
}

async function inTime<Done>(work: Promise<Done>): Promise<Done> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the store did not answer in time")), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function keyOf({ identity }: Call, id: string): string {
  return `${identity?.tenantId}\n${identity?.userId ?? identity?.credentialId}\n${id}`;
}

import { BoundedMap } from "../../../directory/bounded-map.ts";
import type { Call } from "../../../road/call.ts";
import type { CacheKind, CacheParts, CachedValue, StoredValue } from "./cache-store.ts";

const KEPT_MS = 24 * 3_600_000;
/** What waits to be written, in characters. */
const MAX_WAITING = 32 * 1024 * 1024;
const WRITTEN_TOGETHER = 500;
/** Names that the store is asked for at a time: a request may hold as many as fit into a body, and a database takes no more than it can count. */
const READ_TOGETHER = 500;
/** How long a call waits for the store, and how long nobody waits for one that did not answer. */
const PATIENCE_MS = 3_000;
const AWAY_MS = 5_000;
/** How long an id that the store does not know is not asked for again. */
const UNKNOWN_MS = 10_000;

interface Waiting {
  readonly row: StoredValue;
  /** Lets go of the answer that waits for it. */
  readonly settle: () => void;
}

/**
 * What answers left behind for the calls that follow them, for 24 hours, within the caller's own scope: one credential
 * never sees another's. Memory answers first. What is kept is in the store before the answer ends, and the store is asked
 * for what memory does not know: another process, or the same one after a restart, goes on with the conversation.
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

  /** By the ids under which later calls ask. Null: that there is nothing. */
  keep(call: Call, values: ReadonlyMap<string, Value | null>): void {
    const until = this.parts.now() + KEPT_MS;
    const written: Promise<void>[] = [];
    for (const [id, value] of values) {
      this.cached.set(keyOf(call, id), { value, until });
      const writing = value === null ? null : this.write(call, id, value, until);
      if (writing !== null) written.push(writing);
    }
    if (written.length > 0) call.keeping = Promise.all([call.keeping, this.settled(written)]);
  }

  /** What is kept under these ids. Answers at once where memory knows them all; a store that is away is no store. */
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

  /** Resolves when everything kept so far is in the store, or the store would not take it. */
  async flush(): Promise<void> {
    while (this.waiting.size > 0 || this.writing !== null) {
      const before = this.waiting.size;
      await (this.writing ?? (this.writing = this.writeWaiting()));
      if (this.waiting.size >= before && before > 0) return;
    }
  }

  /** What to wait for; null where it stays in memory, or the store is away. */
  private write(call: Call, id: string, value: Value, until: number): Promise<void> | null {
    const tenantId = call.identity?.tenantId;
    if (tenantId === undefined || this.kind.outlives?.(call) === false) return null;
    const name = this.nameOf(call, id);
    const { promise, resolve } = Promise.withResolvers<void>();
    const row: StoredValue = {
      tenant_id: tenantId,
      name,
      sealed: this.parts.secrets.seal(JSON.stringify(value), contextOf(name)),
      expires_at: new Date(until),
    };
    // The newer value of the name is the one to be written.
    this.waiting.get(name)?.settle();
    this.waiting.set(name, { row, settle: resolve });
    if (this.awayUntil > this.parts.now()) return null;
    this.writing ??= this.writeWaiting();
    return promise;
  }

  /** One batch after another until none waits. What was not written waits for the next thing kept, or for `flush`. */
  private async writeWaiting(): Promise<void> {
    // What else the same answer keeps goes along.
    await Promise.resolve();
    try {
      while (this.waiting.size > 0) {
        const batch = [...this.waiting.values()].slice(0, WRITTEN_TOGETHER);
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
      for (let at = 0; at < ids.length; at += READ_TOGETHER) await this.readSome(call, ids.slice(at, at + READ_TOGETHER), found);
      // What one call asks for in vain must not take the place of what others will ask for.
      const unknown = ids.filter((id) => !found.has(id)).slice(0, READ_TOGETHER);
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

  /** Null for what another key sealed. */
  private opened(name: string, sealed: string): Value | null {
    try {
      return JSON.parse(this.parts.secrets.open(sealed, contextOf(name))) as Value;
    } catch (error) {
      this.parts.log.warn("kept_value_not_opened", { kind: this.kind.name, error: error as Error });
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

function contextOf(name: string): string {
  return `kept_signatures:${name}`;
}

function keyOf({ identity }: Call, id: string): string {
  return `${identity?.tenantId}\n${identity?.userId ?? identity?.credentialId}\n${id}`;
}

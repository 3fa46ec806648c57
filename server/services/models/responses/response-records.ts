import { BoundedMap } from "../../../directory/bounded-map.ts";
import type { ResponseOwner, ResponseStore, ResponseToStore } from "../../../directory/responses/response-store.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Call } from "../../../road/call.ts";

/** The model and provider of a response; the rest of its record is read where needed. */
export interface ResponsePlace {
  readonly id: string;
  readonly modelId: string;
  readonly providerKey: string;
}

interface Waiting {
  readonly row: ResponseToStore;
  readonly settle: () => void;
}

const KNOWN = 50_000;
const MAX_WAITING = 20_000;
const WRITE_BATCH = 500;
/** How long an answer waits for its record, and how long none waits after the database failed. */
const PATIENCE_MS = 3_000;
const AWAY_MS = 5_000;

/**
 * Records who owns each response, and its model and provider. Those of this process are in memory; others are read from the database. A
 * response whose record could not be written has no owner: its caller gets it but cannot continue from it.
 */
export class ResponseRecords {
  private readonly store: ResponseStore;
  private readonly now: () => number;
  private readonly log: Log;
  private readonly known = new BoundedMap<string, ResponsePlace>(KNOWN);
  private readonly waiting = new BoundedMap<string, Waiting>(MAX_WAITING, ({ settle }) => settle());
  private writing: Promise<void> | null = null;
  private awayUntil = 0;

  constructor({ store, now, log }: { readonly store: ResponseStore; readonly now: () => number; readonly log: Log }) {
    this.store = store;
    this.now = now;
    this.log = log;
  }

  /** Queues a record to be written before the answer of its call ends. */
  keep(call: Call, row: ResponseToStore): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.set(`${row.request_id}\n${row.id}`, { row, settle: resolve });
    if (this.awayUntil > this.now()) return;
    this.writing ??= this.writeWaiting();
    call.keeping = Promise.all([call.keeping, this.settled(promise)]);
  }

  /** Writes the record at once; false if the ID belongs to another owner. Rejects if it could not be written. */
  async write(row: ResponseToStore): Promise<boolean> {
    const written = await this.store.insert([row]);
    if (written.size > 0) this.remember(row);
    return written.size > 0 || (await this.find(ownerOf(row), row.id)) !== null;
  }

  /** Null if the caller has no such response. Rejects if the database is unavailable. */
  find(owner: ResponseOwner, id: string): ResponsePlace | null | Promise<ResponsePlace | null> {
    return this.known.get(keyOf(owner, id)) ?? this.read(owner, id);
  }

  forget(owner: ResponseOwner, id: string): void {
    this.known.delete(keyOf(owner, id));
  }

  /** Retries records that the database did not take, unless it failed a moment ago. */
  async writeLate(): Promise<void> {
    if (this.waiting.size > 0 && this.awayUntil <= this.now()) await (this.writing ??= this.writeWaiting());
  }

  /** Resolves when all queued records are written, or the database has failed. */
  async flush(): Promise<void> {
    await this.writing;
    if (this.waiting.size > 0) await (this.writing ??= this.writeWaiting());
  }

  private async read(owner: ResponseOwner, id: string): Promise<ResponsePlace | null> {
    const row = await this.store.find(owner, id);
    if (row === undefined) return null;
    return this.remember(row, owner);
  }

  private remember(row: Pick<ResponseToStore, "id" | "model_id" | "provider_key">, owner = ownerOf(row as ResponseToStore)): ResponsePlace {
    const place = { id: row.id, modelId: row.model_id, providerKey: row.provider_key };
    this.known.set(keyOf(owner, row.id), place);
    return place;
  }

  private async writeWaiting(): Promise<void> {
    // Lets records of other calls in the same turn join the batch.
    await Promise.resolve();
    try {
      while (this.waiting.size > 0) {
        const batch = [...this.waiting.values()].slice(0, WRITE_BATCH);
        const written = await this.store.insert(batch.map(({ row }) => row));
        for (const { row, settle } of batch) {
          this.waiting.delete(`${row.request_id}\n${row.id}`);
          // An ID that existed already is known only to its owner.
          if (written.has(row.request_id)) this.remember(row);
          settle();
        }
      }
    } catch (error) {
      this.awayUntil = this.now() + AWAY_MS;
      this.log.warn("responses_not_recorded", { error: error as Error });
      for (const { settle } of this.waiting.values()) settle();
    } finally {
      this.writing = null;
    }
  }

  private async settled(written: Promise<void>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.awayUntil = this.now() + AWAY_MS;
        resolve();
      }, PATIENCE_MS);
    });
    await Promise.race([written, late]);
    clearTimeout(timer);
  }
}

function ownerOf({ tenant_id, resource_group_id, end_user_id }: ResponseToStore): ResponseOwner {
  return { tenantId: tenant_id, groupId: resource_group_id, userId: end_user_id ?? null };
}

function keyOf({ tenantId, groupId, userId }: ResponseOwner, id: string): string {
  return userId === null ? `${tenantId}\ngroup ${groupId}\n${id}` : `${tenantId}\nuser ${userId}\n${id}`;
}

import type { Database } from "../../../store/database.ts";
import { type ChangedDocument, knowledgeChanges, knowledgeDocumentIds } from "../../../store/knowledge/knowledge-memory.ts";
import { passagesToHold } from "../../../store/knowledge/passages-to-hold.ts";
import { type RememberedPassage, PassageMemory } from "./passage-memory.ts";
import { unpackedSigns } from "./packed-signs.ts";

interface HeldBase {
  readonly key: string;
  readonly tenantId: string;
  readonly baseId: string;
  readonly memory: PassageMemory;
  readonly since: number;
  ready: boolean;
  upto: number;
  usedAt: number;
  running: Promise<void> | null;
  next: Promise<void> | null;
}

const PASSAGES_AT_ONCE = 1_000;
/** How long a search waits for a knowledge base to be loaded before it uses the database instead. */
const PATIENCE_MS = 300;
/** A knowledge base used this recently is not evicted. */
const CACHE_MS = 60_000;
/** How long before loading is tried again after it did not fit. */
const NO_ROOM_MS = 60_000;

class NoRoom extends Error {}

/** The knowledge bases held in memory, within a limit of bytes. Each is synchronized with the database before every search. */
export class HeldBases {
  private readonly db: Database;
  private readonly most: number;
  private readonly held = new Map<string, HeldBase>();
  private readonly noRoom = new Map<string, number>();

  constructor(db: Database, mostBytes: number) {
    this.db = db;
    this.most = mostBytes;
  }

  /** Synchronized with the database; null if it is not in memory, or not loaded yet. */
  async upToDate(tenantId: string, baseId: string): Promise<PassageMemory | null> {
    const key = `${tenantId} ${baseId}`;
    const now = Date.now();
    if ((this.noRoom.get(key) ?? 0) > now) return null;
    const base = this.held.get(key) ?? this.begin(key, tenantId, baseId, now);
    base.usedAt = now;
    const fresh = this.fresh(base);
    if (base.ready) await fresh;
    else {
      fresh.catch(() => undefined);
      if (now - base.since > PATIENCE_MS) return null;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, PATIENCE_MS);
      await Promise.race([fresh, promise]).finally(() => clearTimeout(timer));
    }
    return base.ready ? base.memory : null;
  }

  private begin(key: string, tenantId: string, baseId: string, since: number): HeldBase {
    const base: HeldBase = {
      ...{ key, tenantId, baseId, since, memory: new PassageMemory() },
      ...{ ready: false, upto: 0, usedAt: since, running: null, next: null },
    };
    this.held.set(key, base);
    return base;
  }

  /** A running sync may have started before a change that must be visible, so callers share the next one. */
  private fresh(base: HeldBase): Promise<void> {
    if (base.running === null) return this.run(base);
    base.next ??= base.running
      .catch(() => undefined)
      .then(() => {
        base.next = null;
        return this.run(base);
      });
    return base.next;
  }

  private run(base: HeldBase): Promise<void> {
    base.running = this.synced(base)
      .catch((error: unknown) => {
        if (!base.ready || error instanceof NoRoom) this.held.delete(base.key);
        if (!(error instanceof NoRoom)) throw error;
        base.ready = false;
        this.noRoom.set(base.key, Date.now() + NO_ROOM_MS);
      })
      .finally(() => (base.running = null));
    return base.running;
  }

  private async synced(base: HeldBase): Promise<void> {
    const { memory, tenantId, baseId } = base;
    const { upto, count, changed } = await knowledgeChanges(this.db, tenantId, baseId, base.upto);
    const news = changed.filter(({ id, changed_in: changedIn }) => !memory.has(id, changedIn));
    for (let from = 0; from < news.length;) {
      const some: ChangedDocument[] = [];
      for (let passages = 0; from < news.length && passages < PASSAGES_AT_ONCE; from++) {
        const document = news[from] as ChangedDocument;
        some.push(document);
        passages += 1 + document.chunk_count;
      }
      await this.take(memory, some);
      this.makeRoom(base);
    }
    if (memory.documents !== count) {
      const there = await knowledgeDocumentIds(this.db, tenantId, [baseId], null);
      for (const id of [...memory.ids()]) if (!there.has(id)) memory.remove(id);
    }
    base.upto = upto;
    base.ready = true;
  }

  private async take(memory: PassageMemory, documents: readonly ChangedDocument[]): Promise<void> {
    const passages = new Map<string, RememberedPassage[]>(documents.map(({ id }) => [id, []]));
    const rows = await passagesToHold(
      this.db,
      documents.map(({ id }) => id),
    );
    for (const { document_id: id, ordinal, terms, embedding_model_id: modelId, signs } of rows)
      passages.get(id)?.push({ ordinal, terms, modelId, signs: signs === null ? null : unpackedSigns(signs) });
    for (const { id, changed_in: changedIn, principals } of documents) memory.put(id, changedIn, principals, passages.get(id) ?? []);
  }

  private makeRoom(base: HeldBase): void {
    const others = [...this.held.values()].filter((one) => one !== base).sort((a, b) => a.usedAt - b.usedAt);
    let bytes = others.reduce((sum, { memory }) => sum + memory.bytes, base.memory.bytes);
    for (const other of others) {
      if (bytes <= this.most) return;
      if (Date.now() - other.usedAt < CACHE_MS) continue;
      this.held.delete(other.key);
      bytes -= other.memory.bytes;
    }
    if (bytes > this.most) throw new NoRoom();
  }
}

import { Worker } from "node:worker_threads";
import type { ChunkKey, SearchScope } from "../../../store/knowledge/knowledge-search.ts";

export interface MemoryThread {
  readonly databaseUrl: string;
  /** Limit in bytes for all knowledge bases held in memory. */
  readonly mostBytes: number;
}

export interface MemoryQuestion {
  readonly scope: SearchScope;
  readonly text: string;
  readonly vectors: readonly { readonly modelId: string; readonly vector: Float32Array }[];
  /** The number of candidates to find by words, and by the signs of each vector. */
  readonly ranked: number;
  readonly candidates: number;
}

export interface MemoryJob extends MemoryQuestion {
  readonly id: number;
}

export interface Candidates {
  readonly byWords: readonly ChunkKey[];
  /** One list per vector of the question. */
  readonly bySigns: readonly (readonly ChunkKey[])[];
}

export interface MemoryJobDone {
  readonly id: number;
  readonly found: Candidates | null;
}

/**
 * Finds candidates among the passages held in memory by a worker thread, which is started by the first search. Each search
 * sees all earlier changes to the database. Texts are read from the database, which checks the reader's rights again.
 */
export class RememberedPassages {
  private readonly parts: MemoryThread;
  private thread: Worker | undefined;
  private readonly waiting = new Map<number, (found: Candidates | null) => void>();
  private lastId = 0;

  constructor(parts: MemoryThread) {
    this.parts = parts;
  }

  /** Null if a knowledge base is not in memory, or not yet. Never rejects. */
  find(question: MemoryQuestion): Promise<Candidates | null> {
    if (this.parts.mostBytes === 0) return Promise.resolve(null);
    const id = ++this.lastId;
    const thread = (this.thread ??= this.start());
    thread.ref();
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      thread.postMessage({ ...question, id } satisfies MemoryJob, []);
    });
  }

  async close(): Promise<void> {
    await this.thread?.terminate();
    this.failed();
  }

  private start(): Worker {
    const started = new Worker(new URL("./passage-thread.ts", import.meta.url), { workerData: this.parts });
    started.on("message", ({ id, found }: MemoryJobDone) => {
      this.waiting.get(id)?.(found);
      this.waiting.delete(id);
      if (this.waiting.size === 0) started.unref();
    });
    started.on("error", () => {
      if (this.thread === started) this.failed();
    });
    return started;
  }

  private failed(): void {
    this.thread = undefined;
    for (const resolve of this.waiting.values()) resolve(null);
    this.waiting.clear();
  }
}

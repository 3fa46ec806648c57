import { Worker } from "node:worker_threads";
import type { ChunkKey, SearchScope } from "../../../store/knowledge/knowledge-search.ts";

export interface MemoryThread {
  readonly databaseUrl: string;
  /** What all knowledge bases in memory come to at most. */
  readonly mostBytes: number;
}

export interface MemoryQuestion {
  readonly scope: SearchScope;
  readonly text: string;
  readonly vectors: readonly { readonly modelId: string; readonly vector: Float32Array }[];
  /** How many are to be found by words, and how many by each vector's signs. */
  readonly ranked: number;
  readonly candidates: number;
}

export interface MemoryJob extends MemoryQuestion {
  readonly id: number;
}

export interface Candidates {
  readonly byWords: readonly ChunkKey[];
  /** One list for each vector of the question. */
  readonly bySigns: readonly (readonly ChunkKey[])[];
}

export interface MemoryJobDone {
  readonly id: number;
  readonly found: Candidates | null;
}

/**
 * Finds candidates among passages that are held in memory by a thread of their own, started when somebody first asks. What
 * is changed in the database by whomever is seen by the next search; what a passage says is read there, within the rights of
 * the reader once more.
 */
export class RememberedPassages {
  private readonly parts: MemoryThread;
  private thread: Worker | undefined;
  private readonly waiting = new Map<number, (found: Candidates | null) => void>();
  private lastId = 0;

  constructor(parts: MemoryThread) {
    this.parts = parts;
  }

  /** Null where a knowledge base is not in memory, or not yet. Never rejects. */
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

import { Worker } from "node:worker_threads";

export interface LengthJob {
  readonly id: number;
  readonly path: string;
}

export interface LengthJobDone {
  readonly id: number;
  readonly seconds: number | null;
}

interface Waiting extends LengthJob {
  resolve(seconds: number | null): void;
}

/** An honest file of the largest size takes a fraction of it, the library's own loading most of the rest. */
const LONGEST_MS = 10_000;
const MOST_OF_ONE = 64;

/**
 * Measures how long sound and moving pictures play, on a thread of its own: what a file says of itself is its sender's word,
 * and following it may take for ever. Tenants have their turn one after the other.
 */
export class SoundLengths {
  private thread: Worker | undefined;
  /** By tenant; whoever is first is next. */
  private readonly waiting = new Map<string, Waiting[]>();
  private measuring: Waiting | null = null;
  private deadline: ReturnType<typeof setTimeout> | undefined;
  private lastId = 0;

  /** Null where the file does not tell, or not in time. Never rejects. */
  seconds(tenantId: string, path: string): Promise<number | null> {
    const others = this.waiting.get(tenantId) ?? [];
    if (others.length >= MOST_OF_ONE) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.waiting.set(tenantId, [...others, { id: ++this.lastId, path, resolve }]);
      this.next();
    });
  }

  private next(): void {
    if (this.measuring !== null) return;
    const [first] = this.waiting;
    if (first === undefined) {
      this.thread?.unref();
      return;
    }
    const [tenantId, [job, ...rest]] = first;
    this.waiting.delete(tenantId);
    if (rest.length > 0) this.waiting.set(tenantId, rest);
    this.measuring = job as Waiting;
    const thread = (this.thread ??= this.start());
    thread.ref();
    const { id, path } = this.measuring;
    this.deadline = setTimeout(() => this.end(thread), LONGEST_MS);
    thread.postMessage({ id, path } satisfies LengthJob, []);
  }

  private end(thread: Worker): void {
    if (this.thread === thread) this.thread = undefined;
    void thread.terminate();
    this.done(null);
  }

  private done(seconds: number | null): void {
    const { measuring } = this;
    clearTimeout(this.deadline);
    this.measuring = null;
    measuring?.resolve(seconds);
    this.next();
  }

  private start(): Worker {
    const started = new Worker(new URL("./sound-length-thread.ts", import.meta.url));
    started.on("message", ({ id, seconds }: LengthJobDone) => {
      if (this.measuring?.id === id) this.done(seconds);
    });
    started.on("error", () => {
      if (this.thread === started) this.end(started);
    });
    return started;
  }
}

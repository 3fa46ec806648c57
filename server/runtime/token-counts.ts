import { Worker } from "node:worker_threads";

export interface CountJob {
  readonly id: number;
  readonly text: string;
}

export interface CountJobDone {
  readonly id: number;
  readonly tokens: number | null;
}

interface Waiting extends CountJob {
  resolve(tokens: number | null): void;
}

/** Characters of one tenant that wait to be counted, and texts. */
const LONGEST = 4_000_000;
const MOST_OF_ONE = 256;

/**
 * Counts tokens as models of OpenAI do (o200k), on a thread that is started when somebody first asks. Tenants have their turn
 * one after the other, however much one of them has counted.
 */
export class TokenCounts {
  private thread: Worker | undefined;
  /** By tenant; whoever is first is next. */
  private readonly waiting = new Map<string, Waiting[]>();
  private counting: Waiting | null = null;
  private lastId = 0;

  /** Null where nobody has the time: too much of the tenant's waits, or counting would take too long. Never rejects. */
  count(tenantId: string, text: string): Promise<number | null> {
    const others = this.waiting.get(tenantId) ?? [];
    const length = others.reduce((sum, one) => sum + one.text.length, text.length);
    if (length > LONGEST || others.length >= MOST_OF_ONE) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.waiting.set(tenantId, [...others, { id: ++this.lastId, text, resolve }]);
      this.next();
    });
  }

  private next(): void {
    if (this.counting !== null) return;
    const [first] = this.waiting;
    if (first === undefined) {
      this.thread?.unref();
      return;
    }
    const [tenantId, [job, ...rest]] = first;
    this.waiting.delete(tenantId);
    if (rest.length > 0) this.waiting.set(tenantId, rest);
    this.counting = job as Waiting;
    const thread = (this.thread ??= this.start());
    thread.ref();
    const { id, text } = this.counting;
    thread.postMessage({ id, text } satisfies CountJob, []);
  }

  private done(tokens: number | null): void {
    const { counting } = this;
    this.counting = null;
    counting?.resolve(tokens);
    this.next();
  }

  private start(): Worker {
    const started = new Worker(new URL("./token-count-thread.ts", import.meta.url));
    started.on("message", ({ id, tokens }: CountJobDone) => {
      if (this.counting?.id === id) this.done(tokens);
    });
    started.on("error", () => {
      if (this.thread === started) this.thread = undefined;
      this.done(null);
    });
    return started;
  }
}

import type { Worker } from "node:worker_threads";

/** A job sent to the thread, which answers with a `ThreadJobDone` of the same ID. */
export interface ThreadJob<Job> {
  readonly id: number;
  readonly job: Job;
}

export interface ThreadJobDone<Result> {
  readonly id: number;
  readonly result: Result | null;
}

interface Waiting<Job, Result> extends ThreadJob<Job> {
  resolve(result: Result | null): void;
}

/**
 * Runs jobs on a separate thread, one at a time, alternating between tenants. The thread is started on demand, and restarted if a job takes
 * longer than `longestMs` or the thread fails.
 */
export class ThreadTurns<Job, Result> {
  private thread: Worker | undefined;
  /** By tenant, in the order of their turns. */
  private readonly waiting = new Map<string, readonly Waiting<Job, Result>[]>();
  private current: Waiting<Job, Result> | null = null;
  private deadline: ReturnType<typeof setTimeout> | undefined;
  private lastId = 0;
  private readonly newThread: () => Worker;
  private readonly longestMs: number;

  constructor(newThread: () => Worker, longestMs: number) {
    this.newThread = newThread;
    this.longestMs = longestMs;
  }

  waitingOf(tenantId: string): readonly Job[] {
    return (this.waiting.get(tenantId) ?? []).map(({ job }) => job);
  }

  /** The job's result; null if the thread returned none, timed out or failed. Never rejects. */
  ask(tenantId: string, job: Job): Promise<Result | null> {
    return new Promise((resolve) => {
      this.waiting.set(tenantId, [...(this.waiting.get(tenantId) ?? []), { id: ++this.lastId, job, resolve }]);
      this.next();
    });
  }

  private next(): void {
    if (this.current !== null) return;
    const [first] = this.waiting;
    if (first === undefined) {
      this.thread?.unref();
      return;
    }
    const [tenantId, [turn, ...rest]] = first;
    this.waiting.delete(tenantId);
    if (rest.length > 0) this.waiting.set(tenantId, rest);
    this.current = turn as Waiting<Job, Result>;
    const thread = (this.thread ??= this.start());
    thread.ref();
    const { id, job } = this.current;
    this.deadline = setTimeout(() => this.end(thread), this.longestMs);
    thread.postMessage({ id, job } satisfies ThreadJob<Job>, []);
  }

  private end(thread: Worker): void {
    if (this.thread === thread) this.thread = undefined;
    void thread.terminate();
    this.done(null);
  }

  private done(result: Result | null): void {
    const { current } = this;
    clearTimeout(this.deadline);
    this.current = null;
    current?.resolve(result);
    this.next();
  }

  private start(): Worker {
    const started = this.newThread();
    started.on("message", ({ id, result }: ThreadJobDone<Result>) => {
      if (this.current?.id === id) this.done(result);
    });
    started.on("error", () => {
      if (this.thread === started) this.end(started);
    });
    return started;
  }
}

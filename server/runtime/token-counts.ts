import { Worker } from "node:worker_threads";

export interface CountJob {
  readonly id: number;
  readonly text: string;
}

export interface CountJobDone {
  readonly id: number;
  readonly tokens: number | null;
}

const LONGEST_TEXT = 4_000_000;
/** Texts that wait to be counted, of everybody and of one tenant. */
const MOST = 32;
const MOST_OF_ONE = 4;

/**
 * Counts tokens as models of OpenAI do (o200k), on a thread that is started when somebody first asks. What one tenant has
 * counted does not keep the others of theirs.
 */
export class TokenCounts {
  private thread: Worker | undefined;
  private readonly waiting = new Map<number, { readonly tenantId: string; resolve(tokens: number | null): void }>();
  private lastId = 0;

  /** Null where nobody has the time: too many wait, or the text is too long. Never rejects. */
  count(tenantId: string, text: string): Promise<number | null> {
    if (text.length > LONGEST_TEXT || this.waiting.size >= MOST) return Promise.resolve(null);
    if ([...this.waiting.values()].filter((one) => one.tenantId === tenantId).length >= MOST_OF_ONE) return Promise.resolve(null);
    const thread = (this.thread ??= this.start());
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.waiting.set(id, { tenantId, resolve });
      thread.ref();
      thread.postMessage({ id, text } satisfies CountJob, []);
    });
  }

  private start(): Worker {
    const started = new Worker(new URL("./token-count-thread.ts", import.meta.url));
    started.on("message", ({ id, tokens }: CountJobDone) => {
      this.waiting.get(id)?.resolve(tokens);
      this.waiting.delete(id);
      if (this.waiting.size === 0) started.unref();
    });
    started.on("error", () => {
      if (this.thread === started) this.thread = undefined;
      for (const { resolve } of this.waiting.values()) resolve(null);
      this.waiting.clear();
    });
    return started;
  }
}

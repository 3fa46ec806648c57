import { Worker } from "node:worker_threads";
import { randomBytes } from "node:crypto";
import { threadTime } from "../../kernel/scheduling/thread-time.ts";
import { boundedSaml } from "./saml-bounds.ts";

/** What signing in by SAML needs to know of a provider, and of this end. */
export interface SamlProvider {
  readonly entityId: string;
  readonly acs: string;
  readonly providerEntityId: string;
  readonly ssoUrl: string;
  readonly certificates: readonly string[];
  readonly responseSigned: boolean;
  /** Whether people are known by the NameID, which has to be persistent then. */
  readonly subjectIsNameId: boolean;
}

/** An assertion that was proved. Times in milliseconds since the epoch. */
export interface SamlAssertion {
  readonly id: string;
  readonly notOnOrAfter: number;
  readonly sessionNotOnOrAfter: number | null;
  readonly claims: Record<string, unknown>;
}

export interface SamlClient {
  begin(provider: SamlProvider, relayState: string): Promise<{ address: string; requestId: string }>;
  /** Rejects whatever does not prove who somebody is. `requestId` null: nobody here had asked. */
  finish(provider: SamlProvider, answer: string, requestId: string | null, now: number): Promise<SamlAssertion>;
  metadata(provider: SamlProvider): Promise<string>;
}

export type SamlJob =
  | { readonly kind: "begin"; readonly provider: SamlProvider; readonly relayState: string; readonly requestId: string }
  | {
      readonly kind: "finish";
      readonly provider: SamlProvider;
      readonly answer: string;
      readonly requestId: string | null;
      readonly now: number;
    }
  | { readonly kind: "metadata"; readonly provider: SamlProvider };

/** `thread`: what the system calls the thread that did it. */
export type SamlJobDone = ({ readonly result: unknown } | { readonly error: string }) & { readonly thread: string | null };

/** The library takes milliseconds for an honest answer; the first one waits for it to be loaded. */
const DEADLINE_MS = 2_000;
/** Of the clock, whatever else the machine does. */
const LONGEST_MS = 15_000;
const LOOK_MS = 250;
const MAX_WAITING = 100;

/** Whether a job has taken too long: `worked` milliseconds of a processor, or null where nobody can say, in `passed` of the clock. */
export function tookTooLong(worked: number | null, passed: number): boolean {
  return passed >= LONGEST_MS || (worked ?? passed) >= DEADLINE_MS;
}

/**
 * On a thread of its own, one answer after the other: what is sent by somebody unknown costs the library time in the square
 * of its size, and nobody else is to wait for it. A thread that works too long is ended, not one that waits for a busy processor.
 * What the gateway itself makes costs little and goes before answers that wait.
 */
export function samlClient(): SamlClient & { close(): Promise<void> } {
  let thread: Worker | undefined;
  /** Null until the library is loaded. */
  let ready: { readonly thread: string | null } | null = null;
  let busy = false;
  const made: (() => Promise<unknown>)[] = [];
  const answers: (() => Promise<unknown>)[] = [];

  const run = (job: SamlJob): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (thread === undefined) {
        thread = new Worker(new URL("./saml-thread.ts", import.meta.url));
        ready = null;
      }
      const worker = thread;
      worker.ref();
      const over = () => {
        clearInterval(timer);
        worker.off("message", told);
        worker.off("error", failed);
        worker.unref();
      };
      const end = () => {
        over();
        if (thread === worker) thread = undefined;
        void worker.terminate();
      };
      const told = (done: SamlJobDone) => {
        ready = done;
        over();
        if ("error" in done) reject(new Error(done.error));
        else resolve(done.result);
      };
      const failed = (error: Error) => {
        end();
        reject(error);
      };
      const begun = performance.now();
      const time = () => (ready?.thread == null ? null : threadTime(ready.thread));
      const before = time();
      const timer = setInterval(() => {
        const now = time();
        const worked = ready === null ? 0 : now === null || before === null ? null : now - before;
        if (!tookTooLong(worked, performance.now() - begun)) return;
        end();
        reject(new Error("the answer took too long to be read"));
      }, LOOK_MS);
      worker.on("message", told);
      worker.on("error", failed);
      worker.postMessage(job, []);
    });

  const next = () => {
    const turn = busy ? undefined : (made.shift() ?? answers.shift());
    if (turn === undefined) return;
    busy = true;
    void turn().finally(() => {
      busy = false;
      next();
    });
  };
  const inTurn = <T>(job: SamlJob): Promise<T> => {
    const queue = job.kind === "finish" ? answers : made;
    if (queue.length >= MAX_WAITING) return Promise.reject(new Error("too many sign-ins at once"));
    return new Promise<T>((resolve, reject) => {
      queue.push(() => run(job).then((result) => resolve(result as T), reject));
      next();
    });
  };

  return {
    async begin(provider, relayState) {
      const requestId = `_${randomBytes(20).toString("hex")}`;
      return { address: await inTurn<string>({ kind: "begin", provider, relayState, requestId }), requestId };
    },
    async finish(provider, answer, requestId, now) {
      return inTurn<SamlAssertion>({ kind: "finish", provider, answer: boundedSaml(answer), requestId, now });
    },
    metadata: (provider) => inTurn<string>({ kind: "metadata", provider }),
    async close() {
      await thread?.terminate();
    },
  };
}

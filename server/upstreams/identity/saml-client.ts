import { Worker } from "node:worker_threads";
import { randomBytes } from "node:crypto";
import { threadTime } from "../../kernel/scheduling/thread-time.ts";
import { boundedSaml } from "./saml-bounds.ts";

/** The settings of an identity provider and of this service provider. */
export interface SamlProvider {
  readonly entityId: string;
  readonly acs: string;
  readonly providerEntityId: string;
  readonly ssoUrl: string;
  readonly certificates: readonly string[];
  readonly responseSigned: boolean;
  /** Whether people are identified by the NameID, which must be persistent then. */
  readonly subjectIsNameId: boolean;
}

/** A verified assertion. Times in milliseconds since the epoch. */
export interface SamlAssertion {
  readonly id: string;
  readonly notOnOrAfter: number;
  readonly sessionNotOnOrAfter: number | null;
  readonly claims: Record<string, unknown>;
}

export interface SamlClient {
  begin(provider: SamlProvider, relayState: string): Promise<{ address: string; requestId: string }>;
  /** Rejects any answer that does not prove an identity. `requestId` null: the sign-in was not started here. */
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

/** `thread`: the operating system's ID of the worker thread. */
export type SamlJobDone = ({ readonly result: unknown } | { readonly error: string }) & { readonly thread: string | null };

/** CPU time limit. The library takes milliseconds for an honest answer; loading the library does not count. */
const DEADLINE_MS = 2_000;
/** Wall clock limit, however busy the machine is. */
const WALL_CLOCK_MS = 15_000;
const POLL_INTERVAL_MS = 250;
const MAX_WAITING = 100;

/** Whether a job exceeded a limit: `worked` milliseconds of CPU time (null if unknown), `passed` milliseconds of wall clock time. */
export function tookTooLong(worked: number | null, passed: number): boolean {
  return passed >= WALL_CLOCK_MS || (worked ?? passed) >= DEADLINE_MS;
}

const samlThread = () => new Worker(new URL("./saml-thread.ts", import.meta.url));

/**
 * Runs the SAML library on a thread of its own, one job at a time: an answer from an unknown sender costs quadratic time, which must not
 * block the process. The thread is terminated if a job uses too much CPU time, but not for waiting on a busy processor. Jobs of the gateway
 * itself are cheap and run before answers.
 */
export function samlClient(newThread: () => Worker = samlThread): SamlClient & { close(): Promise<void> } {
  let thread: Worker | undefined;
  /** Null until the library is loaded. */
  let ready: { readonly thread: string | null } | null = null;
  let busy = false;
  const made: (() => Promise<unknown>)[] = [];
  const answers: (() => Promise<unknown>)[] = [];

  /** A thread that ends while it has no job is replaced for the next one. */
  const begun = (): Worker => {
    const worker = newThread();
    const gone = () => {
      if (thread === worker) thread = undefined;
    };
    worker.on("error", gone);
    worker.on("exit", gone);
    ready = null;
    return worker;
  };

  const run = (job: SamlJob): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const worker = (thread ??= begun());
      worker.ref();
      const over = () => {
        clearInterval(timer);
        worker.off("message", finish);
        worker.off("error", failed);
        worker.off("exit", exited);
        worker.unref();
      };
      const end = () => {
        over();
        if (thread === worker) thread = undefined;
        void worker.terminate();
      };
      const finish = (done: SamlJobDone) => {
        ready = done;
        over();
        if ("error" in done) reject(new Error(done.error));
        else resolve(done.result);
      };
      const failed = (error: Error) => {
        end();
        reject(error);
      };
      const exited = () => failed(new Error("the thread that reads answers ended"));
      const since = performance.now();
      const time = () => (ready?.thread == null ? null : threadTime(ready.thread));
      const before = time();
      const timer = setInterval(() => {
        const now = time();
        const worked = ready === null ? 0 : now === null || before === null ? null : now - before;
        if (!tookTooLong(worked, performance.now() - since)) return;
        end();
        reject(new Error("the answer took too long to be read"));
      }, POLL_INTERVAL_MS);
      worker.on("message", finish);
      worker.on("error", failed);
      worker.on("exit", exited);
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

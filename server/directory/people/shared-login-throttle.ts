import type { LoginThrottle } from "./login-throttle.ts";
import type { HashingRequester } from "./portal/password-work.ts";

export type Attempts = Pick<LoginThrottle, "attempt">;

interface Asking {
  ask(name: string, value: unknown): Promise<unknown>;
}

type Run = (turn: HashingRequester) => Promise<boolean>;
type Outcome = Awaited<ReturnType<LoginThrottle["attempt"]>>;

/**
 * Uses the throttle of another process of this machine, so that more processes do not allow more guesses. That process
 * decides when an attempt may run; the attempt itself runs here.
 */
export function remoteAttempts(to: Asking): { readonly attempts: Attempts; readonly answerers: Record<string, (value: never) => unknown> } {
  const waiting = new Map<number, Run>();
  let next = 0;
  return {
    attempts: {
      async attempt(account, from, run) {
        const number = next++;
        let failure: unknown;
        waiting.set(number, async (turn) => {
          try {
            return await run(turn);
          } catch (error) {
            // Keeps the original error, because only its message crosses to the other process.
            failure = error;
            throw error;
          }
        });
        try {
          return (await to.ask("logins.attempt", [account, from, number])) as Outcome;
        } catch (error) {
          throw failure ?? error;
        } finally {
          waiting.delete(number);
        }
      },
    },
    answerers: {
      "logins.run": ([number, turn]: [number, HashingRequester]) => {
        const run = waiting.get(number);
        if (run === undefined) throw new Error("nobody waits for this login any more");
        return run(turn);
      },
    },
  };
}

/** Serves processes that use `remoteAttempts`. */
export function attemptAnswerers(throttle: Attempts, process: Asking) {
  return {
    "logins.attempt": ([account, from, number]: [string, string, number]) =>
      throttle.attempt(account, from, async (turn) => (await process.ask("logins.run", [number, turn])) as boolean),
  };
}

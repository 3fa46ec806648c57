import type { Call } from "../../road/call.ts";

/**
 * An abort controller that follows the call's, so that one attempt can be aborted without ending the call. `release` unlinks it and aborts
 * whatever of the attempt is still running.
 */
export function linkedAbort(call: Call): { abort: AbortController; release: () => void } {
  const abort = new AbortController();
  const { signal } = call.abort;
  const follow = () => abort.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  return {
    abort,
    release() {
      signal.removeEventListener("abort", follow);
      // Whatever is still running of the attempt, such as a body that hangs, has no reader left.
      if (!abort.signal.aborted) abort.abort("attempt_abandoned");
    },
  };
}

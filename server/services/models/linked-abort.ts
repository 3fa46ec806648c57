import type { Call } from "../../road/call.ts";

/** An abort controller that follows the call's, so that one attempt can be given up without ending the call. `release` unlinks it. */
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
      // Whatever of the attempt is still under way (a body that hangs) has no reader any more.
      if (!abort.signal.aborted) abort.abort("attempt_abandoned");
    },
  };
}

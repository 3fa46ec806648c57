/**
 * A batching point: calls that reach it during one turn of the event loop continue together in the next, in order of arrival. The code of a
 * whole call does not fit into the processor's caches, so running one step for many calls is far cheaper than all steps call by call. Calls
 * that arrive singly do not wait for others.
 */
export function eventLoopBatch(): () => Promise<void> {
  let waiting: PromiseWithResolvers<void> | null = null;
  return () => {
    if (waiting === null) {
      waiting = Promise.withResolvers();
      setImmediate(() => {
        const due = waiting;
        waiting = null;
        due?.resolve();
      });
    }
    return waiting.promise;
  };
}

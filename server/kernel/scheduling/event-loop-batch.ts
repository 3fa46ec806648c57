/**
 * A batching point: calls that reach it during one turn of the event loop continue together in the next, in
 * the order they came. A processor's caches do not hold the whole way of a call, so that many calls a step each cost far
 * less than each call all its steps; where calls come one by one, none waits for another.
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

/**
 * Wraps work so that at most one run is in progress and one is waiting. A caller gets a run that began after it asked; callers that ask
 * during a run share the next one.
 */
export function coalesced(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const begin = (): Promise<void> => {
    next = null;
    const over = () => {
      underWay = null;
    };
    underWay = work();
    underWay.then(over, over);
    return underWay;
  };
  return () => {
    if (next !== null) return next;
    if (underWay === null) return begin();
    next = underWay.then(begin, begin);
    return next;
  };
}

/**
 * Work after which whatever was there at its beginning is done. Whoever asks while it is under way is told by the next, which is one for
 * all of them.
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

const ends = new WeakMap<Response, Promise<void>>();

/**
 * Marks a response whose body waits for somebody else and so may be silent as long as they are. `end` resolves when the waiting is over,
 * before the last chunk is sent.
 */
export function waitsForOthers(response: Response, end: Promise<void>): Response {
  ends.set(response, end);
  return response;
}

/** Undefined for a response whose body waits for nobody. */
export const endOfWaiting = (response: Response): Promise<void> | undefined => ends.get(response);

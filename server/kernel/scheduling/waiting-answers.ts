const ends = new WeakMap<Response, Promise<void>>();

/**
 * Says that the body of an answer waits for somebody else, and may be silent for as long as they are. `end` resolves when no more
 * of it is waited for, before its last piece is handed over.
 */
export function waitsForOthers(response: Response, end: Promise<void>): Response {
  ends.set(response, end);
  return response;
}

/** Undefined for an answer whose body waits for nobody. */
export const endOfWaiting = (response: Response): Promise<void> | undefined => ends.get(response);

import { isDeepStrictEqual } from "node:util";

export function isUnchanged(before: object, after: object): boolean {
  return isDeepStrictEqual({ ...before, updated_at: null }, { ...after, updated_at: null });
}

/** Thrown by a write that found nothing to change: the transaction is rolled back, nothing is announced, and `answer` is the result. */
export class Unchanged extends Error {
  readonly answer: unknown;
  constructor(answer: unknown) {
    super("nothing changes");
    this.name = "Unchanged";
    this.answer = answer;
  }
}

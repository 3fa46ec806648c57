import { isDeepStrictEqual } from "node:util";

export function isUnchanged(before: object, after: object): boolean {
  return isDeepStrictEqual({ ...before, updated_at: null }, { ...after, updated_at: null });
}

/** Thrown by work that found nothing to change: whatever it did is undone, nothing is told of it, and `answer` is what it comes to. */
export class Unchanged extends Error {
  readonly answer: unknown;
  constructor(answer: unknown) {
    super("nothing changes");
    this.name = "Unchanged";
    this.answer = answer;
  }
}

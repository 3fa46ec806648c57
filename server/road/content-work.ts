import type { WorkBudget } from "../kernel/scheduling/in-turns.ts";
import type { Call } from "./call.ts";

/** Processor time that looking at the content of one call may take, and for each character of it besides. */
const BASE_MS = 1_000;
const MS_A_CHARACTER = 0.001;

/** Why content was not looked at to its end. */
export const TOO_MUCH_WORK = "looking at it takes more work than one call may cost";

/**
 * What all controls together may spend on looking at what one call carries. Past it a control cannot look, and fails as it
 * does then; work in slices (`kernel/scheduling/in-turns.ts`) tells it what it took.
 */
export class ContentWork implements WorkBudget {
  private leftMs: number;

  constructor(baseMs = BASE_MS) {
    this.leftMs = baseMs;
  }

  grant(characters: number): void {
    this.leftMs += characters * MS_A_CHARACTER;
  }

  took(ms: number): void {
    this.leftMs -= ms;
  }

  get exhausted(): boolean {
    return this.leftMs <= 0;
  }
}

const works = new WeakMap<Call, ContentWork>();

/** The one budget of a call, whichever control asks. */
export function contentWorkOf(call: Call): ContentWork {
  let work = works.get(call);
  if (work === undefined) works.set(call, (work = new ContentWork()));
  return work;
}

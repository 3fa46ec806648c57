import type { WorkBudget } from "../../kernel/scheduling/in-turns.ts";
import type { Call } from "../call.ts";

/** CPU time that inspecting the content of one call may take, plus an allowance for each character. */
const BASE_MS = 1_000;
const MS_A_CHARACTER = 0.001;

/** The reason given when content was not inspected completely. */
export const TOO_MUCH_WORK = "looking at it takes more work than one call may cost";

/**
 * The time budget that all controls share for inspecting the content of one call. A control that finds it exhausted is
 * treated as unable to inspect. Work in slices (`kernel/scheduling/in-turns.ts`) reports the time it took.
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

/** The call's budget, shared by all controls. */
export function contentWorkOf(call: Call): ContentWork {
  let work = works.get(call);
  if (work === undefined) works.set(call, (work = new ContentWork()));
  return work;
}

import type { Feature } from "../conversation/request.ts";
import { MAX_PROBLEMS } from "../openai/body-checks.ts";

/** Collects the features that a written request loses or cannot do without. */
export class RequestReport {
  private readonly lost = new Set<Feature>();
  readonly unsupported: { feature: Feature; message: string }[] = [];

  /** For features that can be lost without harm. */
  drop(feature: Feature): void {
    this.lost.add(feature);
  }

  /** For features whose loss would change the result. */
  refuse(feature: Feature, message: string): void {
    if (
      this.unsupported.length < MAX_PROBLEMS &&
      !this.unsupported.some((problem) => problem.feature === feature && problem.message === message)
    )
      this.unsupported.push({ feature, message });
  }

  get dropped(): readonly Feature[] {
    return [...this.lost];
  }
}

import type { Feature } from "../conversation/request.ts";
import { MAX_PROBLEMS } from "../openai/body-checks.ts";

/** What a request being written turns out to lose, or to need and not to get. */
export class RequestReport {
  private readonly lost = new Set<Feature>();
  readonly unsupported: { feature: Feature; message: string }[] = [];

  /** Its loss does no harm. */
  drop(feature: Feature): void {
    this.lost.add(feature);
  }

  /** Its loss would change what the caller gets. */
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

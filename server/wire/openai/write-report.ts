import type { Feature } from "../conversation/request.ts";
import { MAX_PROBLEMS } from "./body-checks.ts";

/** Collects what a request writer could not express. */
export class WriteReport {
  readonly unsupported: { readonly feature: Feature; readonly message: string }[] = [];
  private readonly droppedFeatures = new Set<Feature>();

  refuse(feature: Feature, message: string): void {
    if (this.unsupported.length < MAX_PROBLEMS && !this.unsupported.some((other) => other.feature === feature && other.message === message))
      this.unsupported.push({ feature, message });
  }

  drop(feature: Feature): void {
    this.droppedFeatures.add(feature);
  }

  get dropped(): Feature[] {
    return [...this.droppedFeatures];
  }
}

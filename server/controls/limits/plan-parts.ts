import type { Period } from "../../directory/limits/periods.ts";
import type { BucketLimit, Scope, WindowLimit, WindowMeasure } from "./counters.ts";

export interface Parts {
  readonly scopes: Scope[];
  readonly windows: WindowLimit[];
  readonly buckets: BucketLimit[];
}

export type QuotaTerms = readonly [path: string, measure: WindowMeasure, period: Period, warning: string | null, limitType: string];

/** Amounts after admission, including this call. `levels` and `inFlight` are empty if the plan is unpaced or this was a probe. */
export interface Admitted {
  readonly kind: "admitted";
  /** Usage of each window. */
  readonly spent: readonly number[];
  /** Level of each bucket. */
  readonly levels: readonly number[];
  /** Calls in flight in each scope; 0 where the scope does not limit concurrency. */
  readonly inFlight: readonly number[];
}

export type Admission =
  | Admitted
  | { readonly kind: "denied"; readonly denial: Denial }
  /** Settled usage leaves room, but calls in flight hold it: wait for a release on window `key`. */
  | { readonly kind: "held"; readonly key: string }
  /** These windows must first be loaded from the usage totals. */
  | { readonly kind: "cold"; readonly windows: readonly number[] };

export type Denial =
  | { readonly by: "window"; readonly index: number; readonly spent: number }
  | { readonly by: "bucket"; readonly index: number; readonly retryAfterMs: number }
  /** The scope is in cooldown since one of its buckets was empty. */
  | { readonly by: "cooldown"; readonly scope: number; readonly limitType: string; readonly retryAfterMs: number }
  | { readonly by: "concurrency"; readonly scope: number; readonly inFlight: number };

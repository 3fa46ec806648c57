/** What was found, this call included. Where nothing was taken of buckets and places, there are no levels and nothing in flight. */
export interface Admitted {
  readonly kind: "admitted";
  /** Of each window. */
  readonly spent: readonly number[];
  /** Of each bucket. */
  readonly levels: readonly number[];
  /** Of each scope: calls at once; 0 where it has no bound on them. */
  readonly inFlight: readonly number[];
}

export type Admission =
  | Admitted
  | { readonly kind: "denied"; readonly denial: Denial }
  /** What is settled leaves room, what is in flight does not: wait for `key` to be released. */
  | { readonly kind: "held"; readonly key: string }
  /** These windows have to be brought up to the truth first. */
  | { readonly kind: "cold"; readonly windows: readonly number[] };

export type Denial =
  | { readonly by: "window"; readonly index: number; readonly spent: number }
  | { readonly by: "bucket"; readonly index: number; readonly retryAfterMs: number }
  /** The scope is locked since a bucket of it was empty. */
  | { readonly by: "cooldown"; readonly scope: number; readonly limitType: string; readonly retryAfterMs: number }
  | { readonly by: "concurrency"; readonly scope: number; readonly inFlight: number };

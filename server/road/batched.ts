import type { ProviderOperation } from "../wire/operation.ts";

/** What is handed to a provider for a line of a batch, in its own format. */
export interface Departure {
  readonly modelId: string;
  readonly operation: ProviderOperation;
  readonly body: string;
}

/**
 * Of a call that its provider answers in a batch: it travels the road until it would leave, and hours later, maybe in
 * another process, from where it would come back.
 */
export type Batched =
  | { readonly kind: "leaving"; departed: Departure | null }
  /** What the provider's batch came back with for it; what was asked has left long ago. */
  | { readonly kind: "answered"; readonly status: number; readonly body: string };

/** Thrown where a call would be sent: it has left for a batch, and nobody waits for its answer. */
export class LeftInBatch extends Error {}

/** Whether the answer of a call is there and it is only to be given. */
export function isAnswered({ batched }: { readonly batched?: Batched }): boolean {
  return batched?.kind === "answered";
}

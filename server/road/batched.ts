import type { ProviderOperation } from "../wire/operation.ts";

/** What is handed to a provider for a line of a batch, in its own format. */
export interface Departure {
  readonly modelId: string;
  readonly operation: ProviderOperation;
  readonly body: string;
}

/**
 * Where a call is that its provider answers in a batch: it stops where it would be sent, and goes on from the provider's
 * answer hours later, maybe in another process.
 */
export type Batched =
  | { readonly kind: "leaving"; departed: Departure | null }
  /** The provider's answer to it. */
  | { readonly kind: "answered"; readonly status: number; readonly body: string };

/** Thrown in the place of sending a call: it was put into a batch, and nobody waits for its answer here. */
export class LeftInBatch extends Error {}

/** Whether the provider of a call has answered it in a batch, and it has only to be finished. */
export function isAnswered({ batched }: { readonly batched?: Batched }): boolean {
  return batched?.kind === "answered";
}

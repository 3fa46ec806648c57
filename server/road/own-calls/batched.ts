import type { ProviderOperation } from "../../wire/operation.ts";

/** The request of one batch line as it is handed to the provider, in the provider's format. */
export interface Departure {
  readonly modelId: string;
  readonly operation: ProviderOperation;
  readonly body: string;
}

/**
 * State of a call that its provider answers in a batch. The call stops where it would be sent, and continues from the provider's answer
 * hours later, possibly in another process.
 */
export type Batched =
  | { readonly kind: "leaving"; departed: Departure | null }
  /** The provider's answer to the line. */
  | { readonly kind: "answered"; readonly status: number; readonly body: string };

/** Thrown instead of sending a call that was added to a provider's batch. The call resumes later, possibly in another process. */
export class LeftInBatch extends Error {}

/** Whether the provider has answered the call in its batch, so that the call only has to be finished. */
export function isAnswered({ batched }: { readonly batched?: Batched }): boolean {
  return batched?.kind === "answered";
}

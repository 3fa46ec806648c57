import type { JsonValue } from "../document.ts";
import type { ProviderOperation } from "../operation.ts";
import type { Usage } from "../usage.ts";

/** What is to be said, in no vendor's form. */
export interface SpeechAsked {
  readonly input: string;
  readonly voice: string;
  /** How it is to be said. */
  readonly instructions: string | null;
  /** Null where the caller did not say. */
  readonly format: string | null;
  /** Names of what else the request says. */
  readonly others: readonly string[];
}

interface SpeechProblem {
  readonly field: string;
  readonly message: string;
}

/** Speech in a provider's own format. Pure, no I/O, never throws. */
export interface SpeechCodec {
  readonly operation: ProviderOperation;
  /** `dropped`: members of the request that the provider does not know. */
  write(asked: SpeechAsked): { readonly body: string; readonly dropped: readonly string[] } | { readonly unsupported: SpeechProblem };
  /** Null when the answer is none. */
  read(answer: JsonValue, format: string | null): SpeechRead | null;
}

export interface SpeechRead {
  /** Null where nothing was said. */
  readonly sound: { readonly bytes: Uint8Array; readonly contentType: string } | null;
  /** Null where the answer tells of no tokens. */
  readonly usage: Usage | null;
  /** Why nothing was said, in the provider's words. */
  readonly declined: string | null;
}

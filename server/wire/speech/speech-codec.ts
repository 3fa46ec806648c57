import type { ProviderOperation } from "../operation.ts";
import type { StreamCodec } from "../streams/stream.ts";
import type { Usage } from "../usage.ts";

/** What is to be said, in no vendor's form. */
export interface SpeechAsked {
  readonly input: string;
  readonly voice: string;
  /** How it is to be said. */
  readonly instructions: string | null;
  /** How fast, as a multiple of the usual; null where the caller did not say, as with the format. */
  readonly speed: number | null;
  readonly format: string | null;
  /** Names of what else the request says. */
  readonly others: readonly string[];
}

interface SpeechProblem {
  readonly field: string;
  readonly message: string;
}

/** How much is spoken. */
export interface SpokenText {
  /** As vendors bill it: Unicode code points of what is to be said. */
  readonly spoken: number;
  /** Length of all texts that the provider was sent. */
  readonly characters: number;
}

/** Sound as it comes from a provider. */
export interface SpeechStream extends StreamCodec {
  /** Why nothing was said, in the provider's words; null where something was, or it did not say. */
  readonly declined: string | null;
}

/** A request for speech in the provider's form. */
interface WrittenSpeech {
  readonly body: string;
  /** Members of the request that the provider does not know. */
  readonly dropped: readonly string[];
  /** What of the request the provider wants to be told in headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Speech in a provider's own format. Pure, no I/O, never throws. */
export interface SpeechCodec {
  readonly operation: ProviderOperation;
  write(asked: SpeechAsked): WrittenSpeech | { readonly unsupported: SpeechProblem };
  /** As what the sound is served. */
  contentType(format: string | null): string;
  /** A new one for each answer. */
  stream(format: string | null, text: SpokenText): SpeechStream;
  /** A whole answer; null when the bytes are none. */
  read(bytes: Uint8Array, format: string | null): SpeechRead | null;
}

export interface SpeechRead {
  /** Null where nothing was said. */
  readonly sound: Uint8Array | null;
  /** Null where the answer tells of no tokens. */
  readonly usage: Usage | null;
  /** Why nothing was said, in the provider's words. */
  readonly declined: string | null;
}

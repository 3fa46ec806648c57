import type { ProviderOperation } from "../operation.ts";
import type { StreamCodec } from "../streams/stream.ts";
import type { Usage } from "../usage.ts";

/** A speech request independent of the vendor. */
export interface SpeechRequested {
  readonly input: string;
  readonly voice: string;
  /** Instructions on how to speak. */
  readonly instructions: string | null;
  /** Relative to the normal speed; like the format, null if not set. */
  readonly speed: number | null;
  readonly format: string | null;
  /** The names of the remaining members of the request. */
  readonly others: readonly string[];
}

interface SpeechProblem {
  readonly field: string;
  readonly message: string;
}

/** The amount of text in a speech request. */
export interface SpokenText {
  /** Unicode code points of the input, by which vendors bill. */
  readonly spoken: number;
  /** Total length of all texts sent to the provider. */
  readonly characters: number;
}

/** A provider's audio stream. */
export interface SpeechStream extends StreamCodec {
  /** Why no audio came, in the provider's words; null if audio came or no reason was given. */
  readonly declined: string | null;
}

/** A speech request in the provider's format. */
interface WrittenSpeech {
  readonly body: string;
  /** Members of the request that the provider does not support. */
  readonly dropped: readonly string[];
  /** Headers that the provider requires. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Speech requests and answers in a provider's format. Pure, without I/O; never throws. */
export interface SpeechCodec {
  readonly operation: ProviderOperation;
  write(requested: SpeechRequested): WrittenSpeech | { readonly unsupported: SpeechProblem };
  /** The content type of the audio. */
  contentType(format: string | null): string;
  /** A new instance for each answer. */
  stream(format: string | null, text: SpokenText): SpeechStream;
  /** Reads a complete answer; null if the bytes are not one. */
  read(bytes: Uint8Array, format: string | null): SpeechRead | null;
}

export interface SpeechRead {
  /** Null if there is no audio. */
  readonly audio: Uint8Array | null;
  /** Null if the answer reports no tokens. */
  readonly usage: Usage | null;
  /** Why there is no audio, in the provider's words. */
  readonly declined: string | null;
}

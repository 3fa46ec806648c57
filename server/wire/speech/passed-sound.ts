import type { StreamEnding } from "../streams/stream.ts";
import type { Usage } from "../usage.ts";
import type { SpeechStream } from "./speech-codec.ts";

/** Passes audio through unchanged. It reports no usage, so the characters of the input are billed. */
export class PassedAudio implements SpeechStream {
  begun = false;
  readonly outputLength = 0;
  readonly providerError = null;
  readonly declined = null;
  private readonly characters: number;

  constructor(characters: number) {
    this.characters = characters;
  }

  /** Nothing was spoken if no audio arrived. */
  get usage(): Usage {
    return usageOfSpeech(this.begun ? this.characters : 0);
  }

  push(piece: Uint8Array): Uint8Array {
    if (piece.byteLength > 0) this.begun = true;
    return piece;
  }

  end(): StreamEnding {
    return { complete: this.begun, last: null, errorReported: false };
  }
}

export function usageOfSpeech(spokenCharacters: number): Usage {
  const none = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0 };
  return { ...none, spokenCharacters, estimated: false };
}

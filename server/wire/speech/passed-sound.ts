import type { StreamEnding } from "../streams/stream.ts";
import type { Usage } from "../usage.ts";
import type { SpeechStream } from "./speech-codec.ts";

/** Sound that is handed on as it comes. It tells nothing of what it cost: what was to be said does. */
export class PassedSound implements SpeechStream {
  begun = false;
  readonly outputLength = 0;
  readonly providerError = null;
  readonly declined = null;
  private readonly characters: number;

  constructor(characters: number) {
    this.characters = characters;
  }

  /** Of what never began, nothing was spoken. */
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

import { concat } from "../streams/adjoining-bytes.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { objectOf, stringOf } from "../openai/loose-fields.ts";
import { type EventPlace, PassedEvents } from "../streams/passed-events.ts";
import type { StreamEnding, StreamPiece } from "../streams/stream.ts";
import { audioOf, count, inputTokens, plausibleUsage, type Usage } from "../usage.ts";
import { usageOfSpeech } from "./passed-sound.ts";
import type { SpeechStream } from "./speech-codec.ts";

const encoder = new TextEncoder();

/** Passes a provider's own speech events through. The last one has the usage; a stream that breaks off is billed by its input. */
export class PassedSpeechEvents extends PassedEvents implements SpeechStream {
  readonly outputLength = 0;
  readonly declined = null;
  protected complete = false;
  private readonly characters: number;
  private reportedUsage: Usage | null = null;

  constructor(characters: number) {
    super();
    this.characters = characters;
  }

  get usage(): Usage {
    return this.reportedUsage ?? usageOfSpeech(this.begun ? this.characters : 0);
  }

  protected read(event: JsonObject, type: string): EventPlace {
    if (type === "speech.audio.delta") this.begun ||= (stringOf(event.audio) ?? "") !== "";
    if (type !== "speech.audio.done") return "within";
    this.begun = true;
    this.complete = true;
    const { input_tokens, output_tokens } = objectOf(event.usage) ?? {};
    const [input, output] = [count(input_tokens), count(output_tokens)];
    this.reportedUsage = plausibleUsage({
      ...usageOfSpeech(this.characters),
      inputUncached: input,
      output,
      // All output is audio.
      ...audioOf(0, output),
    });
    return "ends";
  }
}

/** Converts a provider's audio bytes into the events that the caller requested. */
export class SpeechAsEvents implements SpeechStream {
  private readonly audio: SpeechStream;

  constructor(audio: SpeechStream) {
    this.audio = audio;
  }

  get begun(): boolean {
    return this.audio.begun;
  }
  get usage(): Usage | null {
    return this.audio.usage;
  }
  get outputLength(): number {
    return this.audio.outputLength;
  }
  get providerError(): string | null {
    return this.audio.providerError;
  }
  get declined(): string | null {
    return this.audio.declined;
  }

  push(piece: Uint8Array): StreamPiece {
    return delta(this.audio.push(piece));
  }

  end(): StreamEnding {
    const { complete, last, errorReported } = this.audio.end();
    const pieces = [delta(last), complete ? done(this.audio.usage) : null].filter((piece) => piece !== null);
    return { complete, last: pieces.length === 0 ? null : concat(pieces), errorReported };
  }
}

/** Complete audio as events. */
export function speechEvents(audio: Uint8Array, usage: Usage): Uint8Array {
  return concat([delta(audio), done(usage)].filter((piece) => piece !== null));
}

function delta(audio: StreamPiece): StreamPiece {
  if (audio === null || audio.byteLength === 0) return null;
  return written({ type: "speech.audio.delta", audio: Buffer.from(audio).toString("base64") });
}

function done(usage: Usage | null): Uint8Array {
  const [input, output] = usage === null ? [0, 0] : [inputTokens(usage), usage.output];
  return written({ type: "speech.audio.done", usage: { input_tokens: input, output_tokens: output, total_tokens: input + output } });
}

function written(event: JsonObject): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(event)}\n\n`);
}

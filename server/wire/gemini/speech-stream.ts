import type { JsonObject } from "../../kernel/json-value.ts";
import type { SpeechStream, SpokenText } from "../speech/speech-codec.ts";
import { usageOfSpeech } from "../speech/passed-sound.ts";
import { BYTES_A_SAMPLE, openWavHeader } from "../speech/wav.ts";
import { concat } from "../streams/adjoining-bytes.ts";
import { frameData } from "../streams/sse-data.ts";
import { FrameCutter } from "../streams/sse-frames.ts";
import type { StreamEnding, StreamPiece } from "../streams/stream.ts";
import { FrameTooLarge } from "../streams/stream-bounds.ts";
import { audioOf, estimateTokens, type Usage } from "../usage.ts";
import { NO_REASON, wordsOf } from "./answer-parts.ts";
import { readGeminiFault } from "./fault.ts";
import { bareJsonFrame, bodyIn } from "./gemini-body.ts";
import { member, objectIn, objectsIn, textIn } from "./members.ts";
import { samplesIn } from "./sound-pieces.ts";
import { readGeminiUsage } from "./usage.ts";

/** Models that do not stream speech send all of it in one event: the limit for a whole answer. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;
/** Google's count for its speech models. */
const TOKENS_A_SECOND = 25;
const MAX_WORDS = 1_000;
const NOTHING = new Uint8Array(0);
const decoder = new TextDecoder();

/** Extracts the audio samples from the events of a streamed answer. */
export class GeminiSpeechStream implements SpeechStream {
  begun = false;
  readonly outputLength = 0;
  providerError: string | null = null;
  private readonly cutter = new FrameCutter(MAX_EVENT_BYTES);
  private readonly wav: boolean;
  private readonly text: SpokenText;
  private reportedUsage: Usage | null = null;
  private words = NO_REASON;
  private blocked = false;
  private finished = false;
  private seconds = 0;

  constructor(format: "wav" | "pcm", text: SpokenText) {
    this.wav = format === "wav";
    this.text = text;
  }

  get declined(): string | null {
    return this.begun || this.providerError !== null || !(this.finished || this.blocked) ? null : this.words;
  }

  /** If the answer broke off before complete usage was reported, the audio received is counted instead. */
  get usage(): Usage {
    const { reportedUsage, text } = this;
    if (!this.begun) return reportedUsage ?? usageOfSpeech(0);
    if (reportedUsage !== null && this.finished) return { ...reportedUsage, spokenCharacters: text.spoken };
    const audioTokens = Math.ceil(this.seconds * TOKENS_A_SECOND);
    const usage = reportedUsage ?? { ...usageOfSpeech(text.spoken), inputUncached: estimateTokens(text.characters) };
    if (audioTokens <= usage.output) return { ...usage, spokenCharacters: text.spoken };
    return {
      ...usage,
      output: audioTokens,
      ...audioOf(usage.audioInput ?? 0, audioTokens),
      spokenCharacters: text.spoken,
      estimated: true,
    };
  }

  push(piece: Uint8Array): StreamPiece {
    if (this.providerError !== null) return null;
    try {
      return whole(this.cutter.push(piece).map((frame) => this.frame(decoder.decode(frame))));
    } catch (error) {
      if (!(error instanceof FrameTooLarge)) throw error;
      this.providerError = error.message;
      return null;
    }
  }

  end(): StreamEnding {
    const rest = decoder.decode(this.cutter.rest());
    // An event without its final blank line, or a truncated one.
    const data = frameData(rest) ?? bareJsonFrame(rest);
    const last = data === null || bodyIn(data) === null || this.providerError !== null ? null : whole([this.frame(rest)]);
    return { complete: this.begun && this.finished && this.providerError === null, last, errorReported: false };
  }

  private frame(frame: string): Uint8Array {
    if (this.providerError !== null) return NOTHING;
    const data = frameData(frame) ?? bareJsonFrame(frame);
    if (data === null || data.trim() === "" || data.trim() === "[DONE]") return NOTHING;
    const event = bodyIn(data);
    if (event === null) this.providerError = "the provider sent an event that is not a JSON object";
    else if (member(event, "error") !== undefined) this.providerError = readGeminiFault(0, event).message;
    else return this.event(event);
    return NOTHING;
  }

  private event(event: JsonObject): Uint8Array {
    this.reportedUsage = readGeminiUsage(event.usageMetadata) ?? this.reportedUsage;
    this.finished ||= objectsIn(event, "candidates").some((candidate) => textIn(candidate, "finishReason") !== null);
    const found = samplesIn(event);
    if (found === null || found.samples.byteLength === 0) {
      this.blocked ||= objectIn(event, "promptFeedback") !== null;
      const words = wordsOf(event);
      if (words !== NO_REASON) this.words = this.words === NO_REASON ? words : `${this.words} ${words}`.slice(0, MAX_WORDS);
      return NOTHING;
    }
    const { samples, rate } = found;
    const head = this.wav && !this.begun ? openWavHeader(rate) : NOTHING;
    this.begun = true;
    this.seconds += samples.byteLength / BYTES_A_SAMPLE / rate;
    return head.byteLength === 0 ? samples : concat([head, samples]);
  }
}

function whole(pieces: readonly Uint8Array[]): StreamPiece {
  const joined = concat(pieces);
  return joined.byteLength === 0 ? null : joined;
}

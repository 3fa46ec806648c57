import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectOf } from "../../wire/openai/loose-fields.ts";
import { DEFAULT_TURNS } from "../../wire/realtime/session-settings.ts";
import { TOKENS_OF_HEARD_SECOND } from "../../wire/transcriptions/transcript-usage.ts";

/** Bytes per second of 24 kHz PCM and of G.711. */
const PCM_RATE = 48_000;
const G711_RATE = 8_000;
const BYTES_PER_CHARACTER = 3 / 4;
const ID = /^[\w.:-]{1,64}$/;

function rateOf({ type, rate }: JsonObject): number {
  if (type !== "audio/pcm") return G711_RATE;
  return typeof rate === "number" && rate >= G711_RATE ? rate * 2 : PCM_RATE;
}

/**
 * What the caller has said aloud since the last response, and who asks for the next one. The provider detects turns but makes no response
 * itself: those that the client wants made automatically are made by the gateway.
 */
export class InputAudio {
  /** Turn detection as the client asked for it; null for none. */
  private turns: JsonObject | null = DEFAULT_TURNS;
  private rate = PCM_RATE;
  private isFirst = true;
  private hasEnded = false;
  /** Milliseconds of audio sent in this session, sent when the last turn ended, and answered. */
  private sent = 0;
  private ended = 0;
  private answered = 0;
  /** Milliseconds sent when the provider last committed audio. */
  private committed = 0;

  get createsResponses(): boolean {
    return this.turns !== null && this.turns.create_response !== false;
  }

  /** The most tokens that audio without an answer can have. */
  get unansweredTokens(): number {
    return Math.ceil(((this.sent - this.answered) / 1_000) * TOKENS_OF_HEARD_SECOND);
  }

  /** The input settings that the provider is told, of an update by the client. */
  settings(audio: JsonObject | null): JsonObject {
    const input = objectOf(audio?.input) ?? {};
    if (input.turn_detection !== undefined) this.turns = objectOf(input.turn_detection);
    const format = objectOf(input.format);
    // Never raised again, because the provider may reject the update that would raise it.
    if (format !== null) this.rate = Math.min(this.rate, rateOf(format));
    return { ...input, turn_detection: this.turns === null ? null : { ...this.turns, create_response: false } };
  }

  /**
   * The update that has to precede all others about input and the first audio; null afterwards. Providers respond by themselves unless told
   * otherwise, and keep to it if they reject a later update.
   */
  firstUpdate(): JsonObject | null {
    if (!this.isFirst) return null;
    this.isFirst = false;
    return {
      type: "session.update",
      session: { type: "realtime", audio: { input: { turn_detection: { ...DEFAULT_TURNS, create_response: false } } } },
    };
  }

  appended(audio: string): void {
    this.sent += (audio.length * BYTES_PER_CHARACTER * 1_000) / this.rate;
  }

  /** The provider says that the caller's turn has ended. */
  turnEnded(event: JsonObject): void {
    this.hasEnded = true;
    this.ended = typeof event.audio_end_ms === "number" ? Math.min(event.audio_end_ms, this.sent) : this.sent;
  }

  /** The ID of the item that the provider made of the audio; null if there was none to make it of. */
  committedAs(event: JsonObject): { readonly id: string; readonly endsTurn: boolean } | null {
    const id = filledOf(event.item_id);
    const until = this.hasEnded ? this.ended : this.sent;
    if (id === null || !ID.test(id) || until <= this.committed) return null;
    const endsTurn = this.hasEnded;
    this.hasEnded = false;
    this.committed = until;
    return { id, endsTurn };
  }

  /** A response is made of everything committed. */
  asked(): void {
    this.answered = this.committed;
  }
}

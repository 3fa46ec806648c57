import { concat } from "../streams/adjoining-bytes.ts";
import { type FrameReader, lengthUnder, PassingFrames } from "../streams/passing-frames.ts";
import { servedByOpenAi, servingByOpenAi } from "../serving.ts";
import { frameData, isWholeEvent } from "../streams/sse-data.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../streams/stream.ts";
import type { ServiceTier, Usage } from "../usage.ts";
import { filledOf, wholeOf } from "./loose-fields.ts";
import { readChatUsage } from "./usage.ts";

const DONE = "[DONE]";
/** Matches the members on which governance acts, and the closing frame. */
const MUST_PARSE = /"error"|"tool_calls"|"reasoning|"(?:usage|finish_reason)"\s*:\s*(?!null|\s)|\[DONE\]|\r/;
const TIER = /"service_tier"\s*:\s*"([\w.-]{1,50})"/;
const decoder = new TextDecoder();

export interface ChunkStreamOptions {
  readonly hideUsage: boolean;
  /** The number of choices in the answer; 1 by default. */
  readonly choices?: number;
  /** Characters of all choices together that repeat the prompt; 0 by default. */
  readonly echoed?: number;
}

type Chunk = { readonly x_groq?: { readonly usage?: unknown } | null } & Readonly<Record<string, unknown>>;

/** One choice of a chunk, whose members depend on the endpoint. */
export type Choice = Readonly<Record<string, unknown>>;

/**
 * Passes a stream of OpenAI chunks through byte for byte. Reads what governance needs (usage, length, end), and removes
 * only the usage chunk that the gateway itself requested. The closing frame is held back until the audit row is sealed.
 */
export abstract class ChunkStream implements StreamCodec, FrameReader {
  readonly telling = MUST_PARSE;
  private readonly frames = new PassingFrames(this);
  private readonly hideUsage: boolean;
  private readonly textMember: string;
  private closing: Uint8Array | null = null;
  private readonly choices: number;
  /** Indexes of the choices that have ended. */
  private readonly finished = new Set<number>();
  private readonly echoed: number;
  private length = 0;
  private reportedUsage: Usage | null = null;
  private tier: unknown = null;
  begun = false;
  /** The provider's error frame, if it sent one. */
  providerError: string | null = null;

  /** `textMember` is the member that contains the text of most frames. */
  constructor(textMember: string, { hideUsage, choices = 1, echoed = 0 }: ChunkStreamOptions) {
    this.textMember = textMember;
    this.hideUsage = hideUsage;
    this.choices = choices;
    this.echoed = echoed;
  }

  get usage(): Usage | null {
    return servedByOpenAi(this.reportedUsage, this.tier);
  }

  get served(): ServiceTier {
    return servingByOpenAi(this.tier);
  }

  get outputLength(): number {
    return Math.max(0, this.length - this.echoed);
  }

  /** The length of the output in a choice. */
  protected abstract lengthOf(choice: Choice): number;

  /** Whether a choice contains output other than text, which has no length. */
  protected hasMedia(_choice: Choice): boolean {
    return false;
  }

  get closed(): boolean {
    return this.closing !== null;
  }

  push(piece: Uint8Array): StreamPiece {
    return this.frames.push(piece);
  }

  /** Call when the provider has ended its stream. */
  end(): StreamEnding {
    const rest = this.frames.rest();
    // An event without its final blank line is passed; a truncated one is dropped and does not end the answer.
    const kept = isWholeEvent(rest) && this.keep(rest) ? rest : null;
    const ended = this.closing !== null || this.finished.size >= this.choices;
    return {
      complete: ended && this.providerError === null,
      last: kept === null ? this.closing : this.closing === null ? kept : concat([this.closing, kept]),
      errorReported: this.providerError !== null,
    };
  }

  passes(): boolean {
    return true;
  }

  note(text: string): boolean {
    const length = lengthUnder(this.textMember, text);
    // Reported in the first chunk, which may arrive together with later ones.
    if (length > 0 && !this.begun) this.tier ??= TIER.exec(text)?.[1] ?? null;
    this.length += length;
    this.begun ||= length > 0;
    return length > 0;
  }

  keep(frame: Uint8Array): boolean {
    const data = frameData(decoder.decode(frame));
    if (data === null) return true;
    if (data === DONE) {
      this.closing = frame;
      this.begun = true;
      return false;
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      return true;
    }
    if (typeof chunk !== "object" || chunk === null) return true;
    const { choices, error, object, message, x_groq, usage: usageMember, service_tier } = chunk as Chunk;
    const fault = error ?? (object === "error" ? { message } : null);
    if (fault !== null) {
      this.providerError =
        typeof fault === "string" ? fault : String((fault as { message?: unknown }).message ?? "the provider reported an error");
      return true;
    }
    this.tier = service_tier ?? this.tier;
    const usage = usageMember ?? x_groq?.usage;
    if (usage !== undefined && usage !== null) this.reportedUsage = readChatUsage(usage) ?? this.reportedUsage;
    if (!Array.isArray(choices)) return true;
    for (const [place, choice] of (choices as (Choice | null)[]).entries()) {
      if (choice === null || typeof choice !== "object") continue;
      if (filledOf(choice.finish_reason) !== null && this.finished.size < this.choices) this.finished.add(wholeOf(choice.index) ?? place);
      const length = this.lengthOf(choice);
      this.length += length;
      this.begun ||= length > 0 || this.finished.size > 0 || this.hasMedia(choice);
    }
    // Azure and others start with a chunk without choices and usage, which belongs to the caller.
    return !(this.hideUsage && choices.length === 0 && usage !== undefined && usage !== null);
  }
}

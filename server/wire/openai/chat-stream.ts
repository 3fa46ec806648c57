import { concat, FrameCutter, frameData } from "../sse-frames.ts";
import type { StreamCodec, StreamPiece } from "../stream.ts";
import type { Usage } from "../usage.ts";
import { usageOf } from "./usage.ts";

const DONE = "[DONE]";
const decoder = new TextDecoder();

/**
 * A chat completion stream on its way from provider to caller, byte for byte. It reads what governance needs (usage,
 * length, end) and takes out only what the gateway itself had asked the provider for: the usage frame of a caller who
 * did not ask for one. The closing frame is handed over last, so that it can wait for the audit row.
 */
export class ChatStream implements StreamCodec {
  private readonly cutter = new FrameCutter();
  private readonly hideUsage: boolean;
  private closing: Uint8Array | null = null;
  private finished = false;
  usage: Usage | null = null;
  outputLength = 0;
  /** The provider's own error frame, when it sent one. */
  providerError: string | null = null;

  constructor(options: { hideUsage: boolean }) {
    this.hideUsage = options.hideUsage;
  }

  push(piece: Uint8Array): StreamPiece {
    const plain = this.cutter.isEmpty ? plainText(piece) : null;
    if (plain !== null) {
      this.outputLength += plain;
      return piece;
    }
    const frames = this.cutter.push(piece);
    const kept: Uint8Array[] = [];
    for (const frame of frames) if (this.keep(frame)) kept.push(frame);
    return kept.length === 0 ? null : concat(kept);
  }

  /** Call once the provider has ended its stream. */
  end(): { complete: boolean; last: StreamPiece } {
    const rest = this.cutter.rest();
    if (rest.byteLength > 0 && this.keep(rest)) this.closing = rest;
    return { complete: this.closing !== null || this.finished, last: this.closing };
  }

  private keep(frame: Uint8Array): boolean {
    const data = frameData(decoder.decode(frame));
    if (data === null) return true;
    if (data === DONE) {
      this.closing = frame;
      return false;
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      return true;
    }
    if (typeof chunk !== "object" || chunk === null) return true;
    const { choices, usage, error } = chunk as { choices?: unknown; usage?: unknown; error?: unknown };
    if (error !== undefined && error !== null) {
      this.providerError = typeof error === "string" ? error : String((error as { message?: unknown }).message ?? "the provider reported an error");
      return true;
    }
    if (usage !== undefined && usage !== null) this.usage = usageOf(usage) ?? this.usage;
    if (!Array.isArray(choices)) return true;
    for (const choice of choices as { delta?: Delta; finish_reason?: unknown }[]) {
      if (choice.finish_reason !== null && choice.finish_reason !== undefined) this.finished = true;
      this.outputLength += deltaLength(choice.delta);
    }
    // Azure and others open with an empty choices frame of their own, which carries no usage and is the caller's.
    return !(this.hideUsage && choices.length === 0 && usage !== undefined && usage !== null);
  }
}

/**
 * What makes a frame worth parsing: all that governance acts on stands in one of these members, or is the closing
 * frame. A word inside a text is not taken for a member, because its quotes are escaped there.
 */
const TELLING = /"error"|"tool_calls"|"reasoning|"(?:usage|finish_reason)"\s*:\s*(?!null|\s)|\[DONE\]|\r/;
const CONTENT = '"content":"';

/**
 * Length of the texts in a piece of whole frames that hold texts and nothing else to act on, in bytes as written; null
 * for every other piece. Nearly all pieces of a stream are such, and pass at a fraction of what parsing them costs.
 */
function plainText(piece: Uint8Array): number | null {
  const text = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
  if (!text.endsWith("\n\n") || TELLING.test(text)) return null;
  let length = 0;
  for (let at = text.indexOf(CONTENT); at >= 0; at = text.indexOf(CONTENT, at)) {
    const from = at + CONTENT.length;
    // Up to the next quote is near enough for an estimate.
    const end = text.indexOf('"', from);
    if (end < 0) return null;
    length += end - from;
    at = end;
  }
  return length;
}

interface Delta {
  readonly content?: unknown;
  readonly reasoning_content?: unknown;
  readonly tool_calls?: readonly { function?: { arguments?: unknown } }[];
}

function deltaLength(delta: Delta | undefined): number {
  if (delta === undefined || delta === null) return 0;
  let length = typeof delta.content === "string" ? delta.content.length : 0;
  if (typeof delta.reasoning_content === "string") length += delta.reasoning_content.length;
  if (Array.isArray(delta.tool_calls)) {
    for (const call of delta.tool_calls) if (typeof call.function?.arguments === "string") length += call.function.arguments.length;
  }
  return length;
}

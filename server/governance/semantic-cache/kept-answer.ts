import type { ConversationReply } from "../../wire/conversation/reply.ts";
import { replyOfEvents } from "../../wire/conversation/reply-events.ts";
import { isObject } from "../../wire/document.ts";
import type { StreamCodec, StreamPiece } from "../../wire/stream.ts";
import type { Usage } from "../../wire/usage.ts";
import type { Conversation } from "../routing/conversation.ts";
import type { StreamAnswer } from "../surface.ts";

/** An answer longer than this passes without being kept. */
const MOST_BYTES = 512 * 1024;

/** A whole answer in the caller's format, in no vendor's format; null when it cannot be read. */
export function readWhole({ caller }: Conversation, body: Uint8Array): ConversationReply | null {
  if (body.byteLength > MOST_BYTES) return null;
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    return isObject(parsed) ? caller.readReply(parsed) : null;
  } catch {
    return null;
  }
}

/** Keeps what passes through a stream, so that it can be read once it has ended. What passes is not changed. */
export class KeptStream implements StreamCodec {
  private readonly inner: StreamCodec;
  private readonly kept: Uint8Array[];
  private bytes: number;

  constructor(answer: StreamAnswer) {
    this.inner = answer.codec;
    this.kept = [...answer.head];
    this.bytes = this.kept.reduce((sum, piece) => sum + piece.byteLength, 0);
  }

  push(piece: Uint8Array): StreamPiece {
    return this.keep(this.inner.push(piece));
  }

  end(): { complete: boolean; last: StreamPiece } {
    const end = this.inner.end();
    this.keep(end.last);
    return end;
  }

  get begun(): boolean {
    return this.inner.begun;
  }
  get usage(): Usage | null {
    return this.inner.usage;
  }
  get outputLength(): number {
    return this.inner.outputLength;
  }
  get providerError(): string | null {
    return this.inner.providerError;
  }

  /** The answer that has passed; null when it was too long, did not end, or cannot be read. */
  read({ caller, reader }: Conversation): ConversationReply | null {
    if (this.bytes > MOST_BYTES) return null;
    const reading = reader === undefined ? caller.streamReader() : reader();
    const events = this.kept.flatMap((piece) => reading.push(piece));
    const end = reading.end();
    const reply = end.complete ? replyOfEvents([...events, ...end.events]) : null;
    // Usage is hidden from a caller who did not ask for it, and known all the same.
    return reply === null ? null : { ...reply, usage: reply.usage ?? this.usage };
  }

  private keep(piece: StreamPiece): StreamPiece {
    if (piece !== null) {
      this.bytes += piece.byteLength;
      if (this.bytes <= MOST_BYTES) this.kept.push(piece);
      else this.kept.length = 0;
    }
    return piece;
  }
}

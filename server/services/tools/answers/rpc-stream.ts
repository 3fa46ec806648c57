import type { Refusal } from "../../../kernel/errors.ts";
import { concat } from "../../../wire/streams/adjoining-bytes.ts";
import { answers, errorText, readUpstreamRpc, REFUSED, type RpcId, errorMember } from "../../../wire/mcp/rpc.ts";
import { frameData } from "../../../wire/streams/sse-data.ts";
import { FrameCutter } from "../../../wire/streams/sse-frames.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../../wire/streams/stream.ts";
import { KEEP_ALIVE } from "./keep-alive.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();
/** The sender of these streams as named in error messages. */
export const SENDER = "tool server";

/** Edits an answer before it is passed on: returns another text, a refusal to withhold it, or null to leave it unchanged. */
export type EditAnswer = (message: {
  readonly text: string;
  readonly value: NonNullable<ReturnType<typeof readUpstreamRpc>>;
}) => string | Refusal | null;

/**
 * Passes a tool server's event stream on, frame by frame. The frame with the answer is held until the audit row is sealed, and is the last
 * one. A stream without a request (`id` null) has no answer and may end at any time. A server that sends event IDs may also end a stream
 * early: the caller then resumes with the last ID, on a stream without a request, where answers are edited as well.
 */
export class RpcStream implements StreamCodec {
  private readonly cutter = new FrameCutter();
  private readonly id: RpcId | null;
  private readonly edit: EditAnswer;
  private last: Uint8Array | null = null;
  private numbered = false;
  readonly usage = null;
  readonly outputLength = 0;
  readonly providerError = null;
  begun = false;
  refusal: Refusal | null = null;
  /** True once the server has sent a request to the caller, for whose answer it may wait indefinitely. */
  asked = false;

  constructor(id: RpcId | null, edit: EditAnswer) {
    this.id = id;
    this.edit = edit;
  }

  get answered(): boolean {
    return this.last !== null || this.refusal !== null;
  }

  push(piece: Uint8Array): StreamPiece {
    // Only whole frames are passed on, so a keep-alive comment never splits one.
    if (piece === KEEP_ALIVE) return piece;
    const out: Uint8Array[] = [];
    for (const frame of this.cutter.push(piece)) {
      if (this.answered) break;
      const answer = this.answerIn(frame);
      if (answer === null) out.push(this.other(frame));
      else if (answer !== "withheld") this.last = answer;
    }
    if (out.length > 0) this.begun = true;
    return out.length === 0 ? null : concat(out);
  }

  end(): StreamEnding {
    if (!this.answered) {
      const rest = this.cutter.rest();
      const answer = rest.byteLength === 0 ? null : this.answerIn(rest);
      if (answer !== "withheld") this.last = answer;
    }
    return {
      complete: this.refusal === null && (this.last !== null || this.id === null || this.numbered),
      last: this.last,
      errorReported: false,
    };
  }

  /**
   * Handles frames other than the awaited answer. On a resumed stream they may contain any answer, on others answers with different IDs.
   */
  private other(frame: Uint8Array): Uint8Array {
    const text = decoder.decode(frame);
    if (!mayAnswer(text)) return frame;
    const data = frameData(text);
    const value = data === null ? null : readUpstreamRpc(data);
    if (data === null || value === null || (value.result === undefined && errorMember(value) === null)) return frame;
    const changed = this.edit({ text: data, value });
    if (changed === null) return frame;
    const said =
      typeof changed === "string"
        ? changed
        : errorText((value.id ?? null) as RpcId | null, {
            code: REFUSED,
            message: changed.message,
            data: { code: changed.code, ...changed.extra },
          });
    return rewrittenEvent(text, said);
  }

  private answerIn(frame: Uint8Array): Uint8Array | "withheld" | null {
    if (this.id === null) return null;
    const text = decoder.decode(frame);
    if (/^id:/m.test(text)) this.numbered = true;
    const mayAsk = !this.asked && text.includes('"id"');
    if (!mayAsk && !mayAnswer(text)) return null;
    const data = frameData(text);
    const value = data === null ? null : readUpstreamRpc(data);
    if (data === null || value === null) return null;
    if (typeof value.method === "string" && value.id !== undefined && value.method !== "ping") this.asked = true;
    if (!answers(value, this.id)) return null;
    const changed = this.edit({ text: data, value });
    if (changed === null) return frame;
    if (typeof changed !== "string") {
      this.refusal = changed;
      return "withheld";
    }
    return rewrittenEvent(text, changed);
  }
}

/** A cheap check before parsing. Member names may contain escapes. */
function mayAnswer(frame: string): boolean {
  return frame.includes('"result"') || frame.includes('"error"') || frame.includes("\\u");
}

/** The event with its data replaced. */
export function rewrittenEvent(frame: string, data: string): Uint8Array {
  const kept = frame.split(/\r\n|\n|\r/).filter((line) => line !== "" && !line.startsWith("data:"));
  return encoder.encode(`${[...kept, dataLines(data)].join("\n")}\n\n`);
}

/** A message with line breaks becomes several `data:` lines. */
function dataLines(data: string): string {
  return data
    .split(/\r\n|\n|\r/)
    .map((line) => `data: ${line}`)
    .join("\n");
}

/** Encodes an event for a stream that the gateway itself writes. */
export function frameOf(message: string): Uint8Array {
  return encoder.encode(`event: message\n${dataLines(message)}\n\n`);
}

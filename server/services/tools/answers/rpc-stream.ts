import type { Refusal } from "../../../kernel/errors.ts";
import { concat } from "../../../wire/streams/adjoining-bytes.ts";
import { answers, errorText, readUpstreamRpc, REFUSED, type RpcId, errorMember } from "../../../wire/mcp/rpc.ts";
import { frameData } from "../../../wire/streams/sse-data.ts";
import { FrameCutter } from "../../../wire/streams/sse-frames.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../../wire/streams/stream.ts";
import { KEEP_ALIVE } from "./keep-alive.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();
/** Who sends these streams, as errors call it. */
export const SENDER = "tool server";

/** What is done with the answer itself before the caller gets it: another text, or it is withheld; null leaves it as it is. */
export type EditAnswer = (message: {
  readonly text: string;
  readonly value: NonNullable<ReturnType<typeof readUpstreamRpc>>;
}) => string | Refusal | null;

/**
 * Passes a tool server's event stream on, frame for frame. The frame with the answer waits for the audit row, and is
 * the last; a stream without a request behind it (`id` null) has none and may end at any time. A server that numbers its
 * events may end a stream early as well: the caller then reads on with the last number, on such a stream, where answers
 * are edited all the same.
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
  /** The server has asked the caller for something, and may wait for it as long as it likes. */
  asked = false;

  constructor(id: RpcId | null, edit: EditAnswer) {
    this.id = id;
    this.edit = edit;
  }

  get answered(): boolean {
    return this.last !== null || this.refusal !== null;
  }

  push(piece: Uint8Array): StreamPiece {
    // Frames go out whole, so between two pieces there is never half of one.
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

  /** What is not the answer that is waited for: on a stream that is read on any answer, on others one under another id. */
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

/** A cheap look before the frame is read. A name may be spelled with escapes. */
function mayAnswer(frame: string): boolean {
  return frame.includes('"result"') || frame.includes('"error"') || frame.includes("\\u");
}

/** The event with its data replaced. */
export function rewrittenEvent(frame: string, data: string): Uint8Array {
  const kept = frame.split(/\r\n|\n|\r/).filter((line) => line !== "" && !line.startsWith("data:"));
  return encoder.encode(`${[...kept, dataLines(data)].join("\n")}\n\n`);
}

/** A message may be written over several lines, and each of them ends there for who reads the stream. */
function dataLines(data: string): string {
  return data
    .split(/\r\n|\n|\r/)
    .map((line) => `data: ${line}`)
    .join("\n");
}

/** Frames of a stream that this gateway writes itself. */
export function frameOf(message: string): Uint8Array {
  return encoder.encode(`event: message\n${dataLines(message)}\n\n`);
}

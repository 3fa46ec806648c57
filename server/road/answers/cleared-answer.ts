import { inTurns, type InTurns } from "../../kernel/scheduling/in-turns.ts";
import { clearNames } from "../../wire/json/answer-names.ts";
import { writtenWithExactTools } from "../../wire/json/exact-tools.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import type { StreamEnding, StreamPiece } from "../../wire/streams/stream.ts";
import type { StreamAnswer, WholeAnswer } from "../answer.ts";
import type { Call } from "../call.ts";
import { contentWorkOf } from "../policy/content-work.ts";
import { FramedStream } from "../output/framed-stream.ts";
import { passedHead } from "../output/wrapped-stream.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Removes members that parsers could read in two ways (`clearNames`), so that the caller reads what the controls inspected. */
export function clearedWhole(answer: WholeAnswer): WholeAnswer {
  const body = replyObject(answer.body);
  if (body === null) return answer;
  const text = decoder.decode(answer.body);
  return clearNames(body, text) ? { ...answer, body: encoder.encode(writtenWithExactTools(body, text)) } : answer;
}

/** `clearedWhole` for a streamed answer that no control splits into frames. */
export async function clearedStream(call: Call, answer: StreamAnswer, { framing }: OutputForm): Promise<StreamAnswer> {
  const codec = new ClearedStream(answer.codec, framing);
  return { ...answer, codec, head: await inTurns(passedHead(codec, answer.head), contentWorkOf(call)) };
}

class ClearedStream extends FramedStream {
  *passing(piece: StreamPiece): InTurns<StreamPiece> {
    const out: Uint8Array[] = [];
    for (const frame of piece === null ? [] : this.framing.push(piece)) {
      const written = this.written([frame]);
      if (written !== null) out.push(written);
      yield;
    }
    return this.joined(out);
  }

  *ending(): InTurns<StreamEnding> {
    const { complete, last, errorReported } = yield* this.innerEnding();
    const pieces = [yield* this.passing(last)];
    const rest = this.framing.rest();
    if (rest !== null) pieces.push(this.written([rest]));
    return { complete, last: this.joined(pieces), errorReported };
  }
}

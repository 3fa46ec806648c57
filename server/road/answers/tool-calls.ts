import type { AnswerContents } from "../../wire/texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { exactArguments, wholeSource } from "../../wire/json/exact-tools.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { BufferedToolCall } from "../output/buffered-tool-calls.ts";
import { framingOf } from "../output/frames.ts";

/** The tool calls of a whole answer, in order. `source`: the bytes `body` was parsed from. */
export function toolCallsOf({ texts }: OutputForm, body: JsonObject, source: Uint8Array): readonly BufferedToolCall[] {
  const calls = new CallList();
  calls.add(texts.contents(body, true), exactArguments(wholeSource(body, source)));
  return calls.made;
}

/** The tool calls of a streamed answer, in order. */
export function toolCallsOfPieces({ texts, framing }: OutputForm, pieces: readonly Uint8Array[]): readonly BufferedToolCall[] {
  const cut = framingOf(framing);
  const frames = pieces.flatMap((piece) => cut.push(piece));
  const rest = cut.rest();
  const calls = new CallList();
  for (const frame of rest === null ? frames : [...frames, rest])
    if (frame.body !== null) calls.add(texts.contents(frame.body, false), exactArguments(frame));
  return calls.made;
}

class CallList {
  readonly made: BufferedToolCall[] = [];
  /** The latest call of each channel. */
  private readonly newest = new Map<string, BufferedToolCall>();

  add({ calls, ends }: AnswerContents, written: (value: unknown) => string): void {
    for (const piece of calls) {
      const { channel, form, id, name } = piece;
      let call = this.newest.get(channel);
      // Some servers give every call the same index: a name with a different ID, or after complete arguments, starts another call.
      if (
        call === undefined ||
        (form === "piece" && name !== null && (call.isWhole || (id != null && call.id !== null && id !== call.id)))
      ) {
        call = new BufferedToolCall();
        this.newest.set(channel, call);
        this.made.push(call);
      }
      call.add(piece, written);
    }
    // In lists of whole calls, the first call of the next frame is a new one.
    for (const prefix of ends)
      if (prefix.endsWith(".calls")) for (const channel of this.newest.keys()) if (channel.startsWith(prefix)) this.newest.delete(channel);
  }
}

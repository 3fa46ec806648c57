import type { AnswerContents } from "../../wire/answer-texts.ts";
import type { JsonObject } from "../../wire/document.ts";
import type { Conversation } from "../conversation.ts";
import { outputFormOf } from "../output/answer-formats.ts";
import { BufferedToolCall } from "../output/buffered-tool-calls.ts";
import { framingOf } from "../output/frames.ts";

/** The tool calls of a whole answer, in their order. */
export function toolCallsOf(conversation: Conversation, body: JsonObject): readonly BufferedToolCall[] {
  const calls = new CallList();
  calls.add(outputFormOf(conversation).texts.contents(body, true));
  return calls.made;
}

/** The same of an answer that came in pieces. */
export function toolCallsOfPieces(conversation: Conversation, pieces: readonly Uint8Array[]): readonly BufferedToolCall[] {
  const { texts, framing } = outputFormOf(conversation);
  const cut = framingOf(framing);
  const frames = pieces.flatMap((piece) => cut.push(piece));
  const rest = cut.rest();
  const calls = new CallList();
  for (const { body } of rest === null ? frames : [...frames, rest]) if (body !== null) calls.add(texts.contents(body, false));
  return calls.made;
}

class CallList {
  readonly made: BufferedToolCall[] = [];
  /** The newest call of each channel. */
  private readonly newest = new Map<string, BufferedToolCall>();

  add({ calls, ends }: AnswerContents): void {
    for (const piece of calls) {
      const { channel, form, id, name } = piece;
      let call = this.newest.get(channel);
      // Some servers give every call the same place: a name with another id, or behind whole arguments, is that of another call.
      if (
        call === undefined ||
        (form === "piece" && name !== null && (call.isWhole || (id != null && call.id !== null && id !== call.id)))
      ) {
        call = new BufferedToolCall();
        this.newest.set(channel, call);
        this.made.push(call);
      }
      call.add(piece);
    }
    // Of a list whose calls come whole the next frame's first is another one.
    for (const prefix of ends)
      if (prefix.endsWith(".calls")) for (const channel of this.newest.keys()) if (channel.startsWith(prefix)) this.newest.delete(channel);
  }
}

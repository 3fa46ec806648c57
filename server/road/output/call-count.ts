import { WholeArguments } from "../../wire/json/whole-arguments.ts";
import type { AnswerContents, CallPiece } from "../../wire/texts/answer-texts.ts";

interface KnownCall {
  id: string | null;
  /** The arguments so far, if they come in pieces. */
  arguments: string;
  readonly wholeness: WholeArguments;
}

/** Longer arguments are not checked for completeness. */
const MAX_ARGUMENTS = 64 * 1024;

/** Counts the tool calls of an answer, however they are split and however often the answer repeats them. */
export class CallCount {
  /** The latest call of each channel. */
  private readonly known = new Map<string, KnownCall>();
  made = 0;

  add({ calls, ends }: AnswerContents): void {
    for (const piece of calls) if (piece.proposed !== true) this.piece(piece);
    // In lists of whole calls, the first call of the next frame is a new one.
    for (const prefix of ends)
      if (prefix.endsWith(".calls")) for (const channel of this.known.keys()) if (channel.startsWith(prefix)) this.known.delete(channel);
  }

  private piece({ channel, id = null, name, place, form }: CallPiece): void {
    let call = this.known.get(channel);
    // Some servers give every call the same index: a name with a different ID, or after complete arguments, starts another call.
    const another =
      call !== undefined &&
      name !== null &&
      form === "piece" &&
      ((id !== null && call.id !== null && id !== call.id) || call.wholeness.isWhole(call.arguments));
    if (call === undefined || another) {
      call = { id, arguments: "", wholeness: new WholeArguments() };
      this.known.set(channel, call);
      this.made++;
    }
    call.id ??= id;
    const given = place === null || form !== "piece" ? undefined : place.holder[place.key];
    if (typeof given !== "string" || call.arguments.length >= MAX_ARGUMENTS) return;
    call.arguments += given;
    call.wholeness.push(given);
  }
}

import type { ConversationEvent, ConversationReply } from "../../wire/conversation/reply.ts";
import { isObject } from "../../kernel/json-value.ts";
import { withExactTools } from "../../wire/json/exact-tools.ts";
import type { Conversation } from "../request/conversation.ts";

/** Reads a whole answer in the caller's format into the vendor-neutral form; null if it cannot be read. */
export function readWhole({ caller }: Conversation, body: Uint8Array): ConversationReply | null {
  try {
    const text = new TextDecoder().decode(body);
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? caller.readReply(withExactTools(parsed, text)) : null;
  } catch {
    return null;
  }
}

/** Reads a streamed answer in the caller's format; `complete` says whether it came to its end. */
export function readPieces(
  { caller, reader }: Conversation,
  pieces: readonly Uint8Array[],
): { readonly events: readonly ConversationEvent[]; readonly complete: boolean } {
  const reading = reader === undefined ? caller.streamReader() : reader();
  const events = pieces.flatMap((piece) => reading.push(piece));
  const end = reading.end();
  return { events: [...events, ...end.events], complete: end.complete };
}

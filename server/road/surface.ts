import type { Refusal } from "../kernel/errors.ts";
import type { Call } from "./call.ts";
import type { Answer, WholeAnswer } from "./answer.ts";
import type { OutputForm } from "../wire/output-form.ts";
import type { Conversation } from "./request/conversation.ts";
import type { RequestView } from "./view.ts";
import type { FileNamingFormat } from "../wire/stored-file-places.ts";

/** An inbound protocol: reads its requests and writes its refusals. Knows no policy. */
export interface Surface {
  /** The format in which its messages refer to stored files, which are inlined before `read`; none when left out. */
  readonly namesFiles?: FileNamingFormat;
  /**
   * Whether the request carries something the gateway issued in place of a credential. No other credential is checked then, and the caller
   * does not count as unauthenticated. Makes no database access.
   */
  vouchesFor?(call: Call): boolean;
  /** `body` is null for methods without one. Returns a promise only if a lookup is needed. */
  read(call: Call, body: Uint8Array | null): Exchange | Refusal | Promise<Exchange | Refusal>;
  /** `status`: set if the protocol uses another status than the error's own. */
  refusal(
    refusal: Refusal,
    call: Call | null,
  ): { readonly headers: Record<string, string>; readonly body: string; readonly status?: number };
  /** Adds to the refusal of a caller who was not admitted; unchanged when left out. */
  notAdmitted?(refusal: Refusal, call: Call): Promise<Refusal>;
  /** The frame that reports an error in a stream that has begun. `last`: the last piece sent, or null. */
  streamError(refusal: Refusal, call: Call, last: Uint8Array | null): Uint8Array;
}

/** How a caller who asked for an event stream is told that the answer is pending, before any of it exists. */
export interface Awaited {
  readonly headers: Readonly<Record<string, string>>;
  /** Keep-alive bytes, valid before and between events. */
  readonly said: Uint8Array;
  /** Writes a whole answer, usually a provider's refusal in its own words, as the rest of the stream. Null if it cannot be. */
  asRest(answer: WholeAnswer, call: Call): Uint8Array | null;
}

/** A request that was read: the view that controls inspect, and how it is answered once they pass it. */
export interface Exchange {
  readonly view: RequestView;
  /** Set if the request is a conversation: how to read its answer. */
  readonly conversation?: Conversation;
  /** How the answer encodes its texts, if it is no conversation but a model produces it. */
  readonly output?: OutputForm;
  /** Left out if a whole answer was asked for, and for streams that can carry nothing before the first event. */
  readonly awaited?: Awaited;
  /** Converts a successful whole answer to the form the caller asked for, once every control has passed it. */
  written?(call: Call, answer: WholeAnswer): WholeAnswer | Refusal | Promise<WholeAnswer | Refusal>;
  answer(call: Call): Promise<Answer | Refusal>;
}

import type { Refusal } from "../kernel/errors.ts";
import type { Call } from "./call.ts";
import type { Answer, WholeAnswer } from "./answer.ts";
import type { OutputForm } from "../wire/output-form.ts";
import type { Conversation } from "./conversation.ts";
import type { RequestView } from "./view.ts";
import type { FileNamingFormat } from "../wire/stored-file-places.ts";

/** An inbound protocol: how its wire is read and how its refusals are written. It knows no policy. */
export interface Surface {
  /** The format in which its messages name files of the caller's, which are put in their place before `read`; none where left out. */
  readonly namesFiles?: FileNamingFormat;
  /**
   * Whether a call shows what the gateway gave out in a credential's place: no other is looked at then, and who calls is no
   * stranger. Asks no database.
   */
  vouchesFor?(call: Call): boolean;
  /** `body` is null on methods that have none. A promise only where something has to be looked up. */
  read(call: Call, body: Uint8Array | null): Exchange | Refusal | Promise<Exchange | Refusal>;
  /** `status`: where the protocol has another than the error's own. */
  refusal(
    refusal: Refusal,
    call: Call | null,
  ): { readonly headers: Record<string, string>; readonly body: string; readonly status?: number };
  /** What a caller who was not let in is told besides; as it is when left out. */
  notAdmitted?(refusal: Refusal, call: Call): Promise<Refusal>;
  /** A frame that tells an error where the answer is already a stream; `last`: what was sent of it last, null when nothing was. */
  streamError(refusal: Refusal, call: Call, last: Uint8Array | null): Uint8Array;
}

/** How somebody who asked for a stream of events is told that its answer is waited for, before anything of it is there. */
export interface Awaited {
  readonly headers: Readonly<Record<string, string>>;
  /** Stands before and between events, and says nothing. */
  readonly said: Uint8Array;
  /** A whole answer in the place of the stream, as what is left of it: mostly what a provider refused, in its own words. Null where it is none. */
  asRest(answer: WholeAnswer, call: Call): Uint8Array | null;
}

/** One request, read: what controls look at, and how it is answered once they let it pass. */
export interface Exchange {
  readonly view: RequestView;
  /** What was read, where it is a conversation: how its answer is to be read. */
  readonly conversation?: Conversation;
  /** How its answer tells its texts, where it is no conversation and a model says something all the same. */
  readonly output?: OutputForm;
  /** Left out where a whole answer was asked for, and of streams in which nothing can be said before an event. */
  readonly awaited?: Awaited;
  /** Puts a successful whole answer into the form its caller asked for, once every control has let it pass. */
  written?(call: Call, answer: WholeAnswer): WholeAnswer | Refusal | Promise<WholeAnswer | Refusal>;
  answer(call: Call): Promise<Answer | Refusal>;
}

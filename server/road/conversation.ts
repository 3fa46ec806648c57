import type { ModelEntry } from "../directory/snapshot.ts";
import type { ConversationCodec, ReplyContext, StreamReader, StreamWriter } from "../wire/conversation/codec.ts";
import type { ConversationInbound } from "../wire/inbound.ts";
import type { ProviderOperation } from "../wire/operation.ts";
import type { StreamCodec } from "../wire/streams/stream.ts";
import type { Usage } from "../wire/usage.ts";
import type { Call } from "./call.ts";

/** A conversation a surface has read, with what its format needs on the way back. */
export interface Conversation {
  readonly inbound: ConversationInbound;
  readonly caller: ConversationCodec;
  /** How an answer of the caller's own format passes as it is. */
  readonly passing: {
    /** Where it is not simply called as the format is. */
    readonly operation?: ProviderOperation;
    stream(sealed: SealsTold): StreamCodec;
    /** Null when the bytes are not an answer of the format. */
    reply(
      bytes: Uint8Array,
      sealed: SealsTold,
    ): { readonly usage: Usage | null; readonly outputCharacters: number; readonly meteredLater?: true } | null;
  };
  /** Null: server-sent events. */
  readonly writer: ((context: ReplyContext) => StreamWriter) | null;
  readonly streamType: string;
  /** Whether nothing can stand between the events of a stream that all clients of the format pass over. */
  readonly silent?: true;
  /** Reads what the writer writes, where that is not what the format's own stream reader reads. */
  readonly reader?: () => StreamReader;
  /** Whether a streaming caller asked for usage, where the format makes that a question. */
  readonly includeUsage: boolean;
  /** Headers of the caller that a provider of the same format acts on. */
  readonly headers: Readonly<Record<string, string>>;
  /** What of the address's query such a provider acts on; nothing when left out. */
  readonly query?: string;
  /** Told what later requests may name of an answer that the gateway writes, as JSON by its ids. */
  readonly keep?: (items: ReadonlyMap<string, string>) => void;
  /** Fields that only a provider of the caller's own format can serve; empty where there are none. */
  readonly statefulFields: readonly string[];
  /** Whether a provider of the caller's own format stores the answer, for requests that go on from it. */
  readonly isStored?: boolean;
  /** The answer of before that this one goes on from, where the request names one. */
  readonly previous?: PreviousAnswer;
  /** The one of them by which a conversation goes on whose instructions its provider keeps, and takes no others for. */
  readonly instructedBy?: string;
}

/** Told what the reasoning of an answer is sealed with, which its caller sends back. */
export type SealsTold = (seals: readonly string[]) => void;

export interface PreviousAnswer {
  readonly field: string;
  readonly id: string;
  /** The provider that keeps it; null where the caller has no such answer. */
  readonly providerKey: string | null;
}

/** What writing an answer in the caller's format requires. */
export function replyContext(call: Call, { inbound, includeUsage }: Conversation, model: ModelEntry): ReplyContext {
  return {
    callId: call.id,
    model: inbound.model ?? model.name,
    created: Math.floor(Date.parse(call.row.timestamp ?? "") / 1000),
    request: inbound.body,
    includeUsage,
  };
}

/** Hands on what of an answer that was written here can be named. */
export function noteReferable({ keep }: Conversation, items: ReadonlyMap<string, string> | undefined): void {
  if (items !== undefined && items.size > 0) keep?.(items);
}

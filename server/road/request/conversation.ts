import type { ModelEntry } from "../../directory/snapshot.ts";
import type { ConversationCodec, ReplyContext, StreamReader, StreamWriter } from "../../wire/conversation/codec.ts";
import type { ConversationInbound } from "../../wire/inbound.ts";
import type { ProviderOperation } from "../../wire/operation.ts";
import type { StreamCodec } from "../../wire/streams/stream.ts";
import type { Usage } from "../../wire/usage.ts";
import type { VendorFees } from "../../wire/vendor-tools.ts";
import type { Call } from "../call.ts";

/** A conversation read by a surface, with what is needed to write the answer in its format. */
export interface Conversation {
  readonly inbound: ConversationInbound;
  readonly caller: ConversationCodec;
  /** How an answer that is already in the caller's format is passed through. */
  readonly passing: {
    /** Set if the provider operation is not the format's default one. */
    readonly operation?: ProviderOperation;
    stream(sealed: NoteSeals): StreamCodec;
    /** Null if the bytes are not an answer of this format. */
    reply(bytes: Uint8Array, sealed: NoteSeals): PassedReading | null;
  };
  /** Null for server-sent events. */
  readonly writer: ((context: ReplyContext) => StreamWriter) | null;
  readonly streamType: string;
  /** True if the format has no keep-alive that all its clients ignore between events. */
  readonly silent?: true;
  /** Reads what `writer` writes, if the format's own stream reader cannot. */
  readonly reader?: () => StreamReader;
  /** Whether a streaming caller asked for usage, in formats that make it optional. */
  readonly includeUsage: boolean;
  /** Caller headers that a provider of the same format acts on. */
  readonly headers: Readonly<Record<string, string>>;
  /** The part of the query that such a provider acts on; empty when left out. */
  readonly query?: string;
  /** Receives the items of a gateway-written answer that later requests may reference: JSON by ID. */
  readonly keep?: (items: ReadonlyMap<string, string>) => void;
  /** Request fields that only a provider of the caller's own format can serve. */
  readonly statefulFields: readonly string[];
  /** Whether a provider of the caller's own format stores the answer for follow-up requests. */
  readonly isStored?: boolean;
  /** The earlier answer that the request continues from. */
  readonly previous?: PreviousAnswer;
  /** The field by which the request continues a conversation whose provider keeps its instructions and accepts no others. */
  readonly instructedBy?: string;
}

/** What metering needs of a whole answer that passes unchanged. */
interface PassedReading {
  readonly usage: Usage | null;
  readonly fees?: VendorFees;
  readonly outputCharacters: number;
  readonly meteredLater?: true;
}

/** Receives the signatures of an answer's reasoning, which the caller sends back later. */
export type NoteSeals = (seals: readonly string[]) => void;

export interface PreviousAnswer {
  readonly field: string;
  readonly id: string;
  /** The provider that stores it; null if the caller has no such answer. */
  readonly providerKey: string | null;
}

/** The context a writer needs for an answer in the caller's format. */
export function replyContext(call: Call, { inbound, includeUsage }: Conversation, model: ModelEntry): ReplyContext {
  return {
    callId: call.id,
    model: inbound.model ?? model.name,
    created: Math.floor(Date.parse(call.row.timestamp ?? "") / 1000),
    request: inbound.body,
    includeUsage,
  };
}

/** Passes on the items of a gateway-written answer that later requests may reference. */
export function noteReferable({ keep }: Conversation, items: ReadonlyMap<string, string> | undefined): void {
  if (items !== undefined && items.size > 0) keep?.(items);
}

import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import type { OutboundBytes } from "../../../kernel/http/outbound-bytes.ts";
import type { JsonValue } from "../../../kernel/json-value.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import type { StreamCodec } from "../../../wire/streams/stream.ts";
import type { ServiceTier, Usage } from "../../../wire/usage.ts";
import type { Attempt, Call } from "../../../road/call.ts";
import type { SentSettings } from "../../../wire/sent-settings.ts";

/** A request to a provider, which can be encoded in whatever format the chosen model's provider speaks. */
export interface ModelRequest {
  /** Where not every model can: those that may are asked before anybody is told why the others may not. */
  mayBeServedBy?(model: ModelEntry): boolean;
  /** Where the caller has the vendor process it; nothing where it leaves that to the vendor's settings. */
  readonly askedRegion?: JsonValue;
  /** For one attempt at one model. A refusal means that this model cannot serve it, so that a retry is useless. */
  prepare(call: Call, model: ModelEntry): PreparedRequest | Refusal | Promise<PreparedRequest | Refusal>;
  /** Length of the input, for an estimate when the provider reports no usage. */
  readonly inputCharacters: number;
  /** What a provider bills as soon as the input was sent; nothing when left out. */
  readonly usageOfSending?: () => Usage;
  /** Asked of an attempt that failed: whether nobody may be asked again, because this one may have been taken on; never when left out. */
  lastTry?(told: Attempt): boolean;
}

/** A request in a provider's format, and how its answer becomes the caller's. */
export interface PreparedRequest {
  readonly operation: ProviderOperation;
  /** The provider's own id of what the operation is about, where its address names one. */
  readonly of?: string;
  readonly body: string;
  /** What is sent in its place, where the provider takes no JSON: `body` then says what is in it, for the record. */
  readonly form?: OutboundBytes;
  readonly stream: boolean;
  /** What the body tells the model of how to answer, for the record. */
  readonly sent: SentSettings;
  /** How the body asks to be served; the usual way when left out. */
  readonly serving?: ServiceTier;
  /** Headers of the caller that this vendor acts on. */
  readonly headers: Readonly<Record<string, string>>;
  /** What of the caller's query this vendor acts on; nothing when left out. */
  readonly query?: string;
  /** A new one for each answer, of the content type it has; null when it is not streamed, or not as was asked for. */
  streamCodec(contentType: string): StreamCodec | null;
  /** Content type of a streamed answer as the caller gets it; null passes the provider's. */
  readonly streamType: string | null;
  /** Whether nothing can stand between the events of a stream of it that its caller's clients all pass over. */
  readonly silent?: true;
  /** Whether a stream of it is bytes of a file, which can hold no word of an error. */
  readonly bytes?: boolean;
  /** Bytes that may be held of a stream which has to be looked at whole; as of any stream when left out. */
  readonly mostHeld?: number;
  /** A whole successful answer; null when the bytes are not one. A promise only where something of it has to be fetched. */
  whole(bytes: Uint8Array): WholeAnswerReading | null | Promise<WholeAnswerReading | null>;
  /** Whether an answer that is none says that the model will not do it. */
  declined?(bytes: Uint8Array): DeclinedReading | null;
  /**
   * Where a stream may turn out to be no answer: why it never began, if the provider said so. Its caller is told nothing before it
   * begins.
   */
  readonly unbegun?: () => DeclinedReading | null;
  /** Where the provider may have been asked in several calls: what those used that were answered before or beside one that failed. */
  usageOfPart?(answered: JsonValue): Usage | null;
  /** The provider's refusal in the caller's shape; null passes its bytes. */
  refusal(status: number, bytes: Uint8Array, headers: Headers): Uint8Array | null;
  /** True where ending the request would end nothing at the provider: then it goes on when its caller hangs up. */
  readonly outlivesCaller?: boolean;
  /** Parameters of the caller's request that were not sent to the provider, by the caller's own names. */
  readonly dropped: readonly string[];
}

/** An answer in which the model says that it will not do what it was asked for, and what saying so took. */
export interface DeclinedReading {
  readonly declined: Refusal;
  readonly usage: Usage | null;
}

export interface WholeAnswerReading {
  readonly body: Uint8Array;
  /** As its caller gets it; when left out what the provider said, or JSON where the body was translated. */
  readonly contentType?: string;
  /** Null when the provider reported none. */
  readonly usage: Usage | null;
  /** Null where output is not counted in tokens. */
  readonly outputCharacters: number;
  /** Where what it comes to is not known yet: then nothing is metered with this answer. */
  readonly meteredLater?: true;
}

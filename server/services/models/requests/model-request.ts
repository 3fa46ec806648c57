import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import type { OutboundBytes } from "../../../kernel/http/outbound-bytes.ts";
import type { JsonValue } from "../../../kernel/json-value.ts";
import type { ProviderCodec } from "../../../wire/conversation/codec.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import type { StreamCodec } from "../../../wire/streams/stream.ts";
import type { ServiceTier, Usage } from "../../../wire/usage.ts";
import type { VendorFees } from "../../../wire/vendor-tools.ts";
import type { Attempt, Call } from "../../../road/call.ts";
import type { SentSettings } from "../../../wire/sent-settings.ts";

/** A request that can be encoded in the format of any model's provider. */
export interface ModelRequest {
  /** Set if not every model can serve the request: models that can are tried first, before the caller is told why the others cannot. */
  mayBeServedBy?(model: ModelEntry): boolean;
  /** The processing region that the caller requests from the vendor; undefined leaves it to the vendor's settings. */
  readonly askedRegion?: JsonValue;
  /** Encodes the request for one attempt at one model. A refusal means that this model cannot serve it, so a retry is useless. */
  prepare(call: Call, model: ModelEntry): PreparedRequest | Refusal | Promise<PreparedRequest | Refusal>;
  /** Whether the input certainly has more tokens than this; never known by default. */
  isLongerThan?(tokens: number): boolean;
  /** Length of the input, to estimate usage if the provider reports none. */
  readonly inputCharacters: number;
  /** What a provider bills as soon as the input was sent; nothing by default. */
  readonly usageOfSending?: () => Usage;
  /** After a failed attempt: true if no other may be made, because the provider may have accepted this one. Never by default. */
  lastTry?(attempt: Attempt): boolean;
}

/** A request in a provider's format, and how its answer becomes the caller's. */
export interface PreparedRequest {
  readonly operation: ProviderOperation;
  /** The provider's ID of the object that the operation is about, if its URL contains one. */
  readonly of?: string;
  readonly body: string;
  /** Sent instead of `body` if the provider does not take JSON; `body` then describes it for the record. */
  readonly form?: OutboundBytes;
  readonly stream: boolean;
  /** The settings in the body, for the audit record. */
  readonly sent: SentSettings;
  /** The service tier requested in the body; the default tier if undefined. */
  readonly serving?: ServiceTier;
  /** The caller's headers that this vendor acts on. */
  readonly headers: Readonly<Record<string, string>>;
  /** The part of the caller's query that this vendor acts on; none by default. */
  readonly query?: string;
  /** Reads the provider's answers, if they are of a conversation. */
  readonly answerCodec?: ProviderCodec;
  /** A new codec for each answer, for its content type; null if the answer is not the requested stream. */
  streamCodec(contentType: string): StreamCodec | null;
  /** Content type of a streamed answer for the caller; null passes the provider's. */
  readonly streamType: string | null;
  /** Set if no keep-alive can be sent between a stream's events, because not all clients would ignore it. */
  readonly silent?: true;
  /** Whether a stream consists of a file's bytes, which have no place for an error. */
  readonly bytes?: boolean;
  /** Most bytes to hold of a stream that must be inspected whole; the general limit by default. */
  readonly mostHeld?: number;
  /** Reads a whole successful answer; null if the bytes are not one. A promise only if part of the answer must be fetched. */
  whole(bytes: Uint8Array): WholeAnswerReading | null | Promise<WholeAnswerReading | null>;
  /** For a body that `whole` could not read: the model's refusal to answer, or null if it is none. */
  declined?(bytes: Uint8Array): DeclinedReading | null;
  /**
   * Set for streams that may end before an answer begins: why, if the provider said so. Nothing is sent to the caller before the answer
   * begins.
   */
  readonly unbegun?: () => DeclinedReading | null;
  /** If a request may take several calls to the provider: usage of those that were answered when another failed. */
  usageOfPart?(answered: JsonValue): Usage | null;
  /** The provider's error in the caller's format; null passes its bytes. */
  refusal(status: number, bytes: Uint8Array, headers: Headers): Uint8Array | null;
  /** True if aborting the request would stop nothing at the provider; it then continues when the caller disconnects. */
  readonly outlivesCaller?: boolean;
  /** Parameters of the caller's request that were not sent to the provider, by the caller's names. */
  readonly dropped: readonly string[];
}

/** An answer in which the model declines the request, and the usage of that answer. */
export interface DeclinedReading {
  readonly declined: Refusal;
  readonly usage: Usage | null;
}

export interface WholeAnswerReading {
  readonly body: Uint8Array;
  /** Content type for the caller; by default the provider's, or JSON if the body was translated. */
  readonly contentType?: string;
  /** Null if the provider reported none. */
  readonly usage: Usage | null;
  /** Fees that the answer shows, counted if no usage is reported. */
  readonly fees?: VendorFees;
  /** Null if output is not counted in tokens. */
  readonly outputCharacters: number;
  /** Set if usage is not known yet: nothing is metered with this answer. */
  readonly meteredLater?: true;
}

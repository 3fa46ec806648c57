import type { ApiFormat } from "@gatehouse/contracts/provider-formats";
import type { Refusal } from "../../kernel/errors.ts";
import type { MessageListener, MessageSocket } from "../../kernel/http/message-socket.ts";
import type { OutboundBytes } from "../../kernel/http/outbound-bytes.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../../wire/operation.ts";
import type { ProviderAsk } from "../../wire/videos/video-codec.ts";
import type { ProviderTraits } from "./traits.ts";

/** The provider of a model, with its credential decrypted; exists in memory only. */
export interface ProviderTarget {
  readonly providerKey: string;
  readonly apiFormat: ApiFormat;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly region: string | null;
  /** The tenant's bucket for this provider; undefined if there is none. */
  readonly storage?: ProviderStorage;
  /** The provider's name of the model. */
  readonly modelName: string;
}

export interface ProviderStorage {
  /** `s3://bucket/prefix` or `gs://bucket/prefix`. */
  readonly uri: string;
  /** The store's URL; null for the vendor's own store. */
  readonly endpoint: string | null;
  readonly roleArn: string | null;
}

export interface ProviderRequest {
  readonly operation: ProviderOperation;
  /** The provider's ID of the object that the operation is about, if its URL contains one. */
  readonly of?: string;
  /** In the provider's format. */
  readonly body: string;
  /** Sent instead of `body` if the provider does not take JSON; `body` then describes it. */
  readonly form?: OutboundBytes;
  readonly stream: boolean;
  /** The caller's headers that the vendor acts on, already selected by the surface. */
  readonly headers: Readonly<Record<string, string>>;
  /** Query parameters of the vendor's own clients that the vendor acts on; none by default. */
  readonly query?: string;
  /** Aborted when the caller leaves or the gateway stops. */
  readonly abort: AbortController;
  /** Longest wait for the response head, and between two pieces of a stream, milliseconds. */
  readonly timeoutMs: number;
  /** Called once the provider may have received the request. */
  readonly departed?: () => void;
}

/** If a request takes several calls and one fails: the answers of the others in the operation's format, because they are billed. */
export interface AnsweredInPart {
  readonly answered?: JsonValue;
}

export interface ProviderReply extends AnsweredInPart {
  /** Its body may be read only once, as a stream or whole. */
  readonly response: Response;
  /** The provider's own request ID. */
  readonly requestId: string | null;
}

/** A request about a job that runs at the provider, or for its output. */
export interface JobQuestion extends ProviderAsk {
  readonly abort: AbortController;
  /** Longest wait for the response head, milliseconds. */
  readonly timeoutMs: number;
}

/** A lasting connection to a model, for what the provider serves over WebSockets. */
export interface ProviderConnection {
  readonly operation: ProviderOperation;
  readonly abort: AbortController;
  /** Longest wait for the handshake, milliseconds. */
  readonly timeoutMs: number;
  readonly listener: MessageListener;
}

/** A client for one provider format. Never throws for network errors or anything the vendor did. */
export interface Provider {
  readonly traits: ProviderTraits;
  /** The URL of an operation, without credentials; recorded as the audit row's target_url. */
  url(target: ProviderTarget, operation: ProviderOperation, stream: boolean, of?: string): string;
  send(target: ProviderTarget, request: ProviderRequest): Promise<ProviderReply | (Refusal & AnsweredInPart)>;
  /** For providers with WebSockets. */
  connect?(target: ProviderTarget, connection: ProviderConnection): Promise<MessageSocket | Response | Refusal>;
  /** For providers with jobs. The credential is not sent to URLs outside the provider. */
  ask?(target: ProviderTarget, question: JobQuestion): Promise<ProviderReply | Refusal>;
}

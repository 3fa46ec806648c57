import type { ApiFormat } from "@gatehouse/contracts/provider-formats";
import type { Refusal } from "../../kernel/errors.ts";
import type { OutboundBytes } from "../../kernel/outbound-bytes.ts";
import type { JsonValue } from "../../wire/document.ts";
import type { ProviderOperation } from "../../wire/operation.ts";
import type { ProviderAsk } from "../../wire/videos/video-codec.ts";
import type { ProviderTraits } from "./traits.ts";

/** Where a model is served: what the snapshot knows of it, the credential opened. Lives in memory only. */
export interface ProviderTarget {
  readonly providerKey: string;
  readonly apiFormat: ApiFormat;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly region: string | null;
  /** The bucket of the tenant's own that it works with; none when left out. */
  readonly storage?: ProviderStorage;
  /** What the provider is sent as the model. */
  readonly modelName: string;
}

export interface ProviderStorage {
  /** `s3://bucket/prefix` or `gs://bucket/prefix`. */
  readonly uri: string;
  /** Where the bucket is asked for; null: at the vendor's own store. */
  readonly endpoint: string | null;
  readonly roleArn: string | null;
}

export interface ProviderRequest {
  readonly operation: ProviderOperation;
  /** The provider's own id of what the operation is about, where its address names one. */
  readonly of?: string;
  /** In the provider's own format. */
  readonly body: string;
  /** What is sent in its place, where the provider takes no JSON: `body` then says what is in it. */
  readonly form?: OutboundBytes;
  readonly stream: boolean;
  /** Headers of the caller that the vendor's own clients send and the vendor acts on, already chosen by the surface. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the vendor's own clients put behind the address and the vendor acts on; nothing when left out. */
  readonly query?: string;
  /** Ends the call: the caller is gone, or the gateway is. */
  readonly abort: AbortController;
  /** Longest silence: until the head, and between two pieces of a stream. */
  readonly timeoutMs: number;
}

/** What was answered of a question that is asked in several calls, one of which failed: an answer of the operation's, since it is billed. */
export interface AnsweredInPart {
  readonly answered?: JsonValue;
}

/** Why there is no answer. */
export interface Unanswered extends Refusal, AnsweredInPart {
  /** Whether the connection was there, so that the provider may have been sent the request, or a part of it. */
  readonly connected?: true;
}

export interface ProviderReply extends AnsweredInPart {
  /** Its body is read once, as a stream or whole. */
  readonly response: Response;
  /** The provider's own id of the request. */
  readonly requestId: string | null;
}

/** A question about a job that the provider works on by itself, or for what that left. */
export interface JobQuestion extends ProviderAsk {
  readonly abort: AbortController;
  /** Longest wait for the head of the answer, milliseconds. */
  readonly timeoutMs: number;
}

/** One vendor format's way out. Never throws for what the network or the vendor did. */
export interface Provider {
  readonly traits: ProviderTraits;
  /** Address an operation goes to, without credentials: the audit row's target_url. */
  url(target: ProviderTarget, operation: ProviderOperation, stream: boolean, of?: string): string;
  send(target: ProviderTarget, request: ProviderRequest): Promise<ProviderReply | Unanswered>;
  /** Of providers with jobs. A whole address that is not the provider's own is asked without its credential. */
  ask?(target: ProviderTarget, question: JobQuestion): Promise<ProviderReply | Refusal>;
}

import type { ConversationFormat, ProviderCodec } from "../../wire/conversation/codec.ts";
import type { EmbeddingsCodec } from "../../wire/embeddings/embeddings-codec.ts";
import type { PicturesCodec } from "../../wire/images/pictures-codec.ts";
import type { RerankCodec } from "../../wire/rerank/rerank-codec.ts";
import type { SpeechCodec } from "../../wire/speech/speech-codec.ts";
import type { VideoCodec } from "../../wire/videos/video-codec.ts";
import type { ProviderOperation } from "../../wire/operation.ts";

/** The properties of a model that decide how its provider is called. */
export interface ServedModel {
  /** The provider's name of the model. */
  readonly modelName: string;
  readonly modes: readonly string[];
  readonly provider: { readonly baseUrl: string };
}

/** Properties of a provider format. Code asks for these and never checks the format's name. */
export interface ProviderTraits {
  /** The codec for a model: the caller's format if the provider supports it for this model, else the one that loses least. */
  codecFor(model: ServedModel, caller: ConversationFormat): ProviderCodec;
  /** The default parameter name for the output limit in a translated chat request; null if the provider has no chat format. */
  readonly ceilingName: ((model: ServedModel) => "max_tokens" | "max_completion_tokens") | null;
  /** Whether fields that refer to earlier calls may be sent: many compatible servers accept and ignore them. */
  keepsState(model: ServedModel): boolean;
  /** OpenAI embeddings requests: passed through, translated, or refused. */
  readonly embeddings: "passes" | EmbeddingsCodec | "refused";
  /** Other operations that pass through in OpenAI's format; none by default. */
  readonly passes?: ReadonlySet<ProviderOperation>;
  /** Translates rerank requests, for providers that do not pass them through; undefined if there is no such model. */
  readonly reranking?: RerankCodec;
  /** Translates image requests; null if the model generates no images or takes OpenAI's format. */
  pictures?(model: ServedModel): PicturesCodec | null;
  /** Translates speech requests; null if the model generates no speech or takes OpenAI's format. */
  speech?(model: ServedModel): SpeechCodec | null;
  /** Encodes video requests; null or undefined if the model generates no video. */
  videos?(model: ServedModel): VideoCodec | null;
  /** Whether the provider counts a model's tokens itself, in the format of the operation's callers. */
  counts(model: ServedModel, operation: ProviderOperation): boolean;
  /** Whether a response of this content type (in lower case) to a streaming request is a stream. */
  isStream(operation: ProviderOperation, contentType: string): boolean;
  /** Whether the provider is inside the gateway, so that data leaves it for no region. */
  readonly local: boolean;
}

export function isEventStreamType(_operation: ProviderOperation, contentType: string): boolean {
  return contentType.startsWith("text/event-stream");
}

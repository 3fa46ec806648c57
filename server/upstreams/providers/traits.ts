import type { ConversationFormat, ProviderCodec } from "../../wire/conversation/codec.ts";
import type { EmbeddingsCodec } from "../../wire/embeddings/embeddings-codec.ts";
import type { PicturesCodec } from "../../wire/images/pictures-codec.ts";
import type { RerankCodec } from "../../wire/rerank/rerank-codec.ts";
import type { SpeechCodec } from "../../wire/speech/speech-codec.ts";
import type { VideoCodec } from "../../wire/videos/video-codec.ts";
import type { ProviderOperation } from "../../wire/operation.ts";

/** What of a model says how its provider is spoken to. */
export interface ServedModel {
  /** The provider's name of it. */
  readonly modelName: string;
  readonly modes: readonly string[];
  readonly provider: { readonly baseUrl: string };
}

/** What is known of a provider format beside how it is reached. Whoever must know a format asks these, and never for its name. */
export interface ProviderTraits {
  /** The format a model is spoken to in: that of the caller where the provider has it for this model, else the one that keeps most. */
  codecFor(model: ServedModel, caller: ConversationFormat): ProviderCodec;
  /** What a translated chat request calls the ceiling on output where nobody said; null where the provider is not spoken to in chat. */
  readonly ceilingName: ((model: ServedModel) => "max_tokens" | "max_completion_tokens") | null;
  /** Whether fields that name what an earlier call left behind may be sent: many compatible servers take them and forget. */
  keepsState(model: ServedModel): boolean;
  /** What OpenAI's clients ask for as embeddings: taken as it is, translated, or refused. */
  readonly embeddings: "passes" | EmbeddingsCodec | "refused";
  /** What else of OpenAI's API it takes and answers in OpenAI's own shape; nothing when left out. */
  readonly passes?: ReadonlySet<ProviderOperation>;
  /** How documents are ordered by a provider that does not take such requests as `passes` says; left out by one that orders none. */
  readonly reranking?: RerankCodec;
  /** How a model draws that does not take OpenAI's requests for pictures; null for one that draws not at all. */
  pictures?(model: ServedModel): PicturesCodec | null;
  /** How a model speaks that does not take OpenAI's requests for speech; null for one that speaks not at all. */
  speech?(model: ServedModel): SpeechCodec | null;
  /** How a model films; null or left out for one that films not at all. */
  videos?(model: ServedModel): VideoCodec | null;
  /** Whether the provider counts a model's tokens itself, in the format of the operation's callers. */
  counts(model: ServedModel, operation: ProviderOperation): boolean;
  /** Whether an answer of this type, in lower case, to a request for a stream is one. */
  isStream(operation: ProviderOperation, contentType: string): boolean;
  /** Answers from within the gateway: nothing leaves it, whatever region is asked for. */
  readonly local: boolean;
}

export function isEventStreamType(_operation: ProviderOperation, contentType: string): boolean {
  return contentType.startsWith("text/event-stream");
}

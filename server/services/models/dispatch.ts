import { type Refusal, isRefusal } from "../../kernel/errors.ts";
import { readWhole } from "../../road/answers/caller-answer.ts";
import { replyStream } from "../../road/answers/reply-stream.ts";
import type { Call } from "../../road/call.ts";
import type { EmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { GeminiEmbeddingsRequest } from "../../wire/gemini/embed-request.ts";
import type { PicturesRequest } from "../../wire/images/pictures-request.ts";
import type { ModerationsRequest } from "../../wire/moderations/moderations-request.ts";
import type { RerankRequest } from "../../wire/rerank/rerank-request.ts";
import type { VideosRequest } from "../../wire/videos/videos-request.ts";
import type { SpeechRequest } from "../../wire/speech/speech-request.ts";
import type { TranscriptionRequest } from "../../wire/transcriptions/transcription-request.ts";
import type { Answer } from "../../road/answer.ts";
import { conversationModelRequest, type ConversationParts } from "./requests/conversation.ts";
import type { Conversation } from "../../road/request/conversation.ts";
import { compactionModelRequest } from "./requests/compaction.ts";
import { embeddingsModelRequest } from "./requests/embeddings.ts";
import { geminiEmbeddingsModelRequest } from "./requests/gemini-embeddings.ts";
import { imagesModelRequest } from "./requests/images.ts";
import { moderationsModelRequest } from "./requests/moderations.ts";
import { type AskedResponse, askingParts, type Connecting, connectingParts, connectRequest, responseRequest } from "./requests/realtime.ts";
import { rerankModelRequest } from "./requests/rerank.ts";
import { speechModelRequest } from "./requests/speech.ts";
import { transcriptionModelRequest } from "./requests/transcriptions.ts";
import { type VideoSubmission, videosModelRequest } from "./requests/videos.ts";
import { Failover, type FailoverParts, targetOfCall } from "./routing/failover.ts";
import type { ModelRequest } from "./requests/model-request.ts";
import { isCountedByProvider, estimate, type TokenCount, tokenCountModelRequest } from "./requests/token-count.ts";

/** Sends admitted calls to models. The access control must have set the call's target. */
export interface Dispatch {
  converse(call: Call, conversation: Conversation): Promise<Answer | Refusal>;
  /** Has a model shorten the conversation into a form it can continue from. The semantic cache is not used. */
  compact(call: Call, conversation: Conversation): Promise<Answer | Refusal>;
  embed(call: Call, request: EmbeddingsRequest | GeminiEmbeddingsRequest): Promise<Answer | Refusal>;
  draw(call: Call, request: PicturesRequest): Promise<Answer | Refusal>;
  speak(call: Call, request: SpeechRequest): Promise<Answer | Refusal>;
  transcribe(call: Call, request: TranscriptionRequest): Promise<Answer | Refusal>;
  /** Starts a video job; its result is followed up elsewhere. */
  video(call: Call, request: VideosRequest, submission: VideoSubmission): Promise<Answer | Refusal>;
  moderate(call: Call, request: ModerationsRequest): Promise<Answer | Refusal>;
  rerank(call: Call, request: RerankRequest): Promise<Answer | Refusal>;
  countTokens(call: Call, count: TokenCount): Promise<Answer | Refusal>;
  /** Opens a lasting connection to a model of the call's target. */
  connect(call: Call, connecting: Connecting): Promise<Answer | Refusal>;
  /** Asks for one response over a connection that `connect` opened. */
  respond(call: Call, asked: AskedResponse): Promise<Answer | Refusal>;
}

export interface DispatchParts extends FailoverParts, ConversationParts {}

export function dispatch(parts: DispatchParts): Dispatch {
  const send = (call: Call, request: ModelRequest) => new Failover(call, request, targetOfCall(call).route, parts).run();
  return {
    converse: async (call, conversation) => {
      const made = conversationModelRequest(call, conversation, parts);
      return withRequestedTier(call, conversation, await send(call, made instanceof Promise ? await made : made));
    },
    compact: async (call, conversation) => send(call, await compactionModelRequest(call, conversation, parts)),
    embed: (call, request) =>
      send(
        call,
        request instanceof GeminiEmbeddingsRequest
          ? geminiEmbeddingsModelRequest(request, parts.providers)
          : embeddingsModelRequest(request, parts.providers),
      ),
    draw: (call, request) => send(call, imagesModelRequest(request, parts)),
    speak: (call, request) => send(call, speechModelRequest(request, parts.providers)),
    transcribe: (call, request) => send(call, transcriptionModelRequest(request, parts.providers)),
    video: (call, request, submission) => send(call, videosModelRequest(request, submission, parts)),
    moderate: (call, request) => send(call, moderationsModelRequest(request, parts.providers)),
    rerank: (call, request) => send(call, rerankModelRequest(request, parts.providers)),
    connect: (call, connecting) => new Failover(call, connectRequest(), targetOfCall(call).route, connectingParts(connecting, parts)).run(),
    respond: (call, asked) => new Failover(call, responseRequest(asked), targetOfCall(call).route, askingParts(asked, parts)).run(),
    countTokens: async (call, count) =>
      isCountedByProvider(targetOfCall(call).route, count, parts.providers) ? send(call, tokenCountModelRequest(count)) : estimate(count),
  };
}

/**
 * Some servers answer whole although a stream was requested. The caller's client reads only events, so the answer is turned into a stream.
 */
function withRequestedTier(call: Call, conversation: Conversation, answer: Answer | Refusal): Answer | Refusal {
  if (!conversation.inbound.stream || isRefusal(answer) || answer.kind === "stream" || answer.failure !== null || answer.usage === null)
    return answer;
  const reply = readWhole(conversation, answer.body);
  if (reply === null) return answer;
  const stream = replyStream(call, conversation, reply, targetOfCall(call).model, answer.usage);
  return { ...stream, headers: { ...answer.headers, ...stream.headers } };
}

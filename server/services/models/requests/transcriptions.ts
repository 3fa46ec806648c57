import { isRefusal, refuse } from "../../../kernel/errors.ts";
import { replyObject } from "../../../wire/openai/reply-object.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import { TranscriptStream } from "../../../wire/transcriptions/transcript-stream.ts";
import { usageOfBrokenTranscript, usageOfTranscript } from "../../../wire/transcriptions/transcript-usage.ts";
import type { TranscriptionRequest } from "../../../wire/transcriptions/transcription-request.ts";
import { type AttemptParts, providerOf } from "../routing/attempt.ts";
import type { ModelRequest } from "./model-request.ts";

/** A transcription or translation of audio, for providers that speak OpenAI's API. The file is sent again with each attempt. */
export function transcriptionModelRequest(request: TranscriptionRequest, providers: AttemptParts["providers"]): ModelRequest {
  const { operation, stream, file, inputCharacters } = request;
  return {
    inputCharacters,
    usageOfSending: () => usageOfBrokenTranscript(file.seconds ?? 0, 0),
    prepare(_call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      if (provider.traits.passes?.has(operation) !== true)
        return refuse("unsupported_parameter", `No ${operation} are served for providers of the format ${model.provider.apiFormat}.`);
      const byTokens = model.priceSchedule.every(({ prices }) => prices.audioSecond == null);
      return {
        operation,
        body: request.outbound({ model: model.modelName }),
        form: request.form({ model: model.modelName }),
        stream,
        sent: NOTHING_SENT,
        headers: {},
        streamCodec: () => (stream ? new TranscriptStream(file.seconds, byTokens) : null),
        streamType: "text/event-stream",
        whole(bytes) {
          const body = replyObject(bytes);
          if (body === null || typeof body.text !== "string") return null;
          return { body: bytes, usage: usageOfTranscript(body, file.seconds), outputCharacters: body.text.length };
        },
        refusal: () => null,
        dropped: [],
      };
    },
  };
}

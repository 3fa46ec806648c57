import { isRefusal, refuse } from "../../kernel/errors.ts";
import { NOTHING_SENT } from "../../wire/sent-settings.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import { PassedSound, usageOfSpeech } from "../../wire/speech/passed-sound.ts";
import type { SpeechRequest } from "../../wire/speech/speech-request.ts";
import { type AttemptParts, providerOf } from "./attempt.ts";
import type { ModelRequest } from "./model-request.ts";

/** Speech of a model whose provider speaks OpenAI's API: it passes as it comes, or is read whole where it is to be stored. */
export function speechModelRequest(request: SpeechRequest, providers: AttemptParts["providers"]): ModelRequest {
  return {
    inputCharacters: request.inputCharacters,
    prepare(_call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      if (provider.traits.passes?.has("speech") !== true)
        return refuse("unsupported_parameter", `No speech is served for providers of the format ${model.provider.apiFormat}.`);
      return {
        operation: "speech",
        body: request.outbound({ model: model.modelName }),
        stream: !request.persist,
        sent: NOTHING_SENT,
        headers: {},
        streamCodec: () => (request.persist ? null : new PassedSound(request.spokenCharacters)),
        streamType: request.contentType,
        bytes: true,
        // Sound is a stream where it is not to be stored: whatever else was answered is no speech.
        whole: (bytes) =>
          !request.persist || bytes.byteLength === 0 || replyObject(bytes) !== null
            ? null
            : { body: bytes, usage: usageOfSpeech(request.spokenCharacters), outputCharacters: 0 },
        refusal: () => null,
        dropped: [],
      };
    },
  };
}

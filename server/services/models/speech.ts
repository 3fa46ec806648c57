import { isRefusal, refuse } from "../../kernel/errors.ts";
import { NOTHING_SENT } from "../../wire/sent-settings.ts";
import { PassedSound } from "../../wire/speech/passed-sound.ts";
import type { SpeechRequest } from "../../wire/speech/speech-request.ts";
import { type AttemptParts, providerOf } from "./attempt.ts";
import type { ModelRequest } from "./model-request.ts";

/** Speech of a model whose provider speaks OpenAI's API: it passes as it comes. */
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
        stream: true,
        sent: NOTHING_SENT,
        headers: {},
        streamCodec: () => new PassedSound(request.spokenCharacters),
        streamType: request.contentType,
        bytes: true,
        // Sound is a stream: whatever else was answered is no speech.
        whole: () => null,
        refusal: () => null,
        dropped: [],
      };
    },
  };
}

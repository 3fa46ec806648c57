import { isRefusal, type Refusal, refuse } from "../../../kernel/errors.ts";
import { replyObject } from "../../../wire/openai/reply-object.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import { PassedAudio, usageOfSpeech } from "../../../wire/speech/passed-sound.ts";
import type { SpeechCodec, SpeechRead, SpeechStream } from "../../../wire/speech/speech-codec.ts";
import { PassedSpeechEvents, SpeechAsEvents, speechEvents } from "../../../wire/speech/speech-events.ts";
import type { SpeechRequest } from "../../../wire/speech/speech-request.ts";
import type { Usage } from "../../../wire/usage.ts";
import { type AttemptParts, providerOf } from "../routing/attempt.ts";
import type { DeclinedReading, ModelRequest, PreparedRequest } from "./model-request.ts";
import { refusedByProvider } from "../routing/refused-by-provider.ts";

const EVENTS = "text/event-stream";

/** A speech request, for providers that speak OpenAI's API or have speech models of their own. */
export function speechModelRequest(request: SpeechRequest, providers: AttemptParts["providers"]): ModelRequest {
  return {
    inputCharacters: request.inputCharacters,
    usageOfSending: () => ({ ...usageOfSpeech(request.spokenCharacters), estimated: true }),
    prepare(_call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      if (provider.traits.passes?.has("speech") === true) return passing(request, model.modelName);
      const codec = provider.traits.speech?.(model) ?? null;
      return codec === null
        ? refuse("unsupported_parameter", `No speech is served for providers of the format ${model.provider.apiFormat}.`)
        : translating(request, codec);
    },
  };
}

/** Streams the sound through, or reads it whole if it is to be stored. */
function passing(request: SpeechRequest, model: string): PreparedRequest {
  const { persist, spokenCharacters, stream: asEvents } = request;
  const contentType = asEvents ? EVENTS : request.contentType;
  return {
    operation: "speech",
    body: request.outbound({ model }),
    stream: !persist,
    sent: NOTHING_SENT,
    headers: {},
    streamCodec(type) {
      if (persist) return null;
      if (type.startsWith(EVENTS)) return asEvents ? new PassedSpeechEvents(spokenCharacters) : null;
      const audio = new PassedAudio(spokenCharacters);
      // Some models do not support events.
      return asEvents ? new SpeechAsEvents(audio) : audio;
    },
    streamType: contentType,
    bytes: !asEvents,
    // Only sound to be stored is read whole; anything else that arrives whole is not speech.
    whole: (bytes) =>
      !persist || bytes.byteLength === 0 || replyObject(bytes) !== null
        ? null
        : { body: bytes, contentType, usage: usageOfSpeech(spokenCharacters), outputCharacters: 0 },
    refusal: () => null,
    dropped: [],
  };
}

function translating(request: SpeechRequest, codec: SpeechCodec): PreparedRequest | Refusal {
  const speechRequest = request.requested();
  const written = codec.write(speechRequest);
  if ("unsupported" in written) return refuse("unsupported_parameter", undefined, { fields: [written.unsupported] });
  const { persist, spokenCharacters, inputCharacters, stream: asEvents } = request;
  const contentType = asEvents ? EVENTS : codec.contentType(speechRequest.format);
  const text = { spoken: spokenCharacters, characters: inputCharacters };
  let stream: SpeechStream | null = null;
  return {
    operation: codec.operation,
    body: written.body,
    stream: !persist,
    sent: NOTHING_SENT,
    headers: written.headers ?? {},
    streamCodec() {
      if (persist) return null;
      const audio = codec.stream(speechRequest.format, text);
      return (stream = asEvents ? new SpeechAsEvents(audio) : audio);
    },
    streamType: contentType,
    bytes: !asEvents,
    unbegun: () => (stream === null || stream.declined === null ? null : declinedFor(stream.declined, stream.usage)),
    whole(bytes) {
      const read = codec.read(bytes, speechRequest.format);
      if (read === null || read.audio === null) return null;
      const usage = usageOf(read, spokenCharacters);
      return { body: asEvents ? speechEvents(read.audio, usage) : read.audio, contentType, usage, outputCharacters: 0 };
    },
    declined(bytes) {
      const read = codec.read(bytes, speechRequest.format);
      return read === null || read.audio !== null ? null : declinedFor(read.declined, read.usage);
    },
    refusal: refusedByProvider,
    dropped: written.dropped,
  };
}

function declinedFor(reason: string | null, usage: Usage | null): DeclinedReading {
  return { declined: refuse("speech_declined", undefined, { reason: reason ?? undefined }), usage };
}

function usageOf({ usage }: SpeechRead, spokenCharacters: number): Usage {
  return usage === null ? usageOfSpeech(spokenCharacters) : { ...usage, spokenCharacters };
}

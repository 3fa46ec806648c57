import type { JsonObject } from "../../kernel/json-value.ts";
import type { SpeechCodec } from "../speech/speech-codec.ts";
import { wavOf } from "../speech/wav.ts";
import { wordsOf } from "./answer-parts.ts";
import { bodyIn } from "./gemini-body.ts";
import { samplesIn } from "./sound-pieces.ts";
import { GeminiSpeechStream } from "./speech-stream.ts";
import { readGeminiUsage } from "./usage.ts";

const FORMATS = ["wav", "pcm"];

/** Gemini's speech models, which answer with raw samples. */
export const geminiSpeech: SpeechCodec = {
  operation: "gemini_speech",
  write({ input, voice, instructions, format, speed, others }) {
    if (format !== null && !FORMATS.includes(format))
      return { unsupported: { field: "response_format", message: `must be one of ${FORMATS.join(", ")} for this model` } };
    const body: JsonObject = {
      // These models are told how to speak by a text before the input.
      contents: [{ role: "user", parts: [{ text: instructions === null ? input : `${instructions}: ${input}` }] }],
      generationConfig: { responseModalities: ["AUDIO"], speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } },
    };
    return { body: JSON.stringify(body), dropped: [...(speed === null ? [] : ["speed"]), ...others] };
  },
  contentType: (format) => (format === "pcm" ? "audio/pcm" : "audio/wav"),
  stream: (format, text) => new GeminiSpeechStream(format === "pcm" ? "pcm" : "wav", text),
  read(bytes, format) {
    const answer = bodyIn(new TextDecoder().decode(bytes));
    if (answer === null) return null;
    const usage = readGeminiUsage(answer.usageMetadata);
    const found = samplesIn(answer);
    if (found === null) return { audio: null, usage, declined: wordsOf(answer) };
    return { audio: format === "pcm" ? found.samples : wavOf(found.samples, found.rate), usage, declined: null };
  },
};

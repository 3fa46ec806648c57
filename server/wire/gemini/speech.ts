import { isObject, type JsonObject } from "../document.ts";
import type { SpeechCodec } from "../speech/speech-codec.ts";
import { wavOf } from "../speech/wav.ts";
import { partsOf, wordsOf } from "./answer-parts.ts";
import { objectIn, textIn } from "./members.ts";
import { readGeminiUsage } from "./usage.ts";

const FORMATS = ["wav", "pcm"];
const USUAL_RATE = 24_000;

/** Gemini's speech models, which answer with bare samples. */
export const geminiSpeech: SpeechCodec = {
  operation: "gemini_speech",
  write({ input, voice, instructions, format, others }) {
    if (format !== null && !FORMATS.includes(format))
      return { unsupported: { field: "response_format", message: `must be one of ${FORMATS.join(", ")} for this model` } };
    const body: JsonObject = {
      // They are told in words how to speak, before what they are to say.
      contents: [{ role: "user", parts: [{ text: instructions === null ? input : `${instructions}: ${input}` }] }],
      generationConfig: { responseModalities: ["AUDIO"], speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } },
    };
    return { body: JSON.stringify(body), dropped: others };
  },
  read(answer, format) {
    if (!isObject(answer)) return null;
    const usage = readGeminiUsage(answer.usageMetadata);
    const pieces = partsOf(answer).flatMap((part) => {
      const inline = objectIn(part, "inlineData");
      const type = inline === null ? null : textIn(inline, "mimeType");
      const data = inline === null ? null : textIn(inline, "data");
      return type === null || data === null || !/^audio\/(?:l16|pcm)\b/i.test(type) ? [] : [{ type, bytes: Buffer.from(data, "base64") }];
    });
    const [first] = pieces;
    if (first === undefined) return { sound: null, usage, declined: wordsOf(answer) };
    const samples = Buffer.concat(pieces.map(({ bytes }) => bytes));
    const rate = Number(/rate=(\d{4,6})\b/.exec(first.type)?.[1] ?? USUAL_RATE);
    const sound =
      format === "pcm" ? { bytes: samples, contentType: "audio/pcm" } : { bytes: wavOf(samples, rate), contentType: "audio/wav" };
    return { sound, usage, declined: null };
  },
};

import { replyObject } from "../openai/reply-object.ts";
import { PassedAudio } from "./passed-sound.ts";
import type { SpeechCodec } from "./speech-codec.ts";
import { ssmlOf } from "./ssml.ts";

interface OutputFormat {
  /** The vendor's name; each is the closest to OpenAI's format of that name. */
  readonly name: string;
  readonly contentType: string;
}

const FORMATS: Readonly<Record<string, OutputFormat>> = {
  mp3: { name: "audio-24khz-96kbitrate-mono-mp3", contentType: "audio/mpeg" },
  opus: { name: "ogg-24khz-16bit-mono-opus", contentType: "audio/ogg" },
  wav: { name: "riff-24khz-16bit-mono-pcm", contentType: "audio/wav" },
  pcm: { name: "raw-24khz-16bit-mono-pcm", contentType: "audio/pcm" },
};
const SLOWEST = 0.5;
const FASTEST = 2;
/** Bytes examined to detect text. */
const HEAD = 512;

const formatOf = (format: string | null): OutputFormat | undefined => FORMATS[format ?? "mp3"];

/** Voices of Azure's Speech service: requests are SSML, answers are raw audio. */
export const azureSpeech: SpeechCodec = {
  operation: "azure_speech",
  write({ input, voice, instructions, format, speed, others }) {
    const output = formatOf(format);
    if (output === undefined)
      return { unsupported: { field: "response_format", message: `must be one of ${Object.keys(FORMATS).join(", ")} for this model` } };
    if (speed !== null && (speed < SLOWEST || speed > FASTEST))
      return { unsupported: { field: "speed", message: `must be from ${SLOWEST} to ${FASTEST} for this model` } };
    return {
      body: ssmlOf({ text: input, voice, rate: speed }),
      dropped: [...(instructions === null ? [] : ["instructions"]), ...others],
      headers: { "x-microsoft-outputformat": output.name },
    };
  },
  contentType: (format) => formatOf(format)?.contentType ?? "application/octet-stream",
  stream: (_format, { spoken }) => new PassedAudio(spoken),
  read: (bytes) => (bytes.byteLength === 0 || isText(bytes) ? null : { audio: bytes, usage: null, declined: null }),
};

/** Whether the bytes are JSON or HTML that a server returned instead of audio. */
function isText(bytes: Uint8Array): boolean {
  if (replyObject(bytes) !== null) return true;
  return /^\s*<[!?a-z]/i.test(Buffer.from(bytes.subarray(0, HEAD)).toString("latin1"));
}

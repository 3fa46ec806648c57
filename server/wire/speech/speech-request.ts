import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import type { TextSlot } from "../inbound.ts";
import { storedTextProblems } from "../texts/kept-texts.ts";
import { knownMembers, otherTexts } from "../texts/other-texts.ts";
import type { MediaRequest } from "../media-request.ts";
import type { SpeechRequested } from "./speech-codec.ts";
import { codePointsOf, modelProblems, PromptedRequest } from "../prompted-request.ts";

/** The supported audio formats and their content types. */
const TYPES = { mp3: "audio/mpeg", opus: "audio/ogg", aac: "audio/aac", flac: "audio/flac", wav: "audio/wav", pcm: "audio/pcm" } as const;
const FORMATS = Object.keys(TYPES);
/** Members read by the gateway only. */
const OURS = ["chat_id", "persist"];
/** Members that have an equivalent in other vendors' formats. */
const TRANSLATED = new Set([...OURS, "model", "model_id", "input", "voice", "instructions", "speed", "response_format", "stream_format"]);
const KNOWN = knownMembers({
  read: `${OURS.join(" ")} input instructions`,
  plain: "voice response_format stream_format",
  protocol: "voice",
});
const SLOWEST = 0.25;
const FASTEST = 4;

/** POST /audio/speech in OpenAI's format. */
export class SpeechRequest extends PromptedRequest {
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "input" };

  /** Whether the caller wants events instead of audio bytes. */
  override readonly stream: boolean;

  constructor(document: JsonDocument) {
    super(document);
    this.stream = document.value.stream_format === "sse";
  }

  /** Unicode code points of the input, by which vendors bill. */
  get spokenCharacters(): number {
    return codePointsOf(this.document.value.input as string);
  }

  /** Whether the caller wants the audio stored. */
  get persist(): boolean {
    return this.document.value.persist === true;
  }

  get chatId(): string | null {
    return (this.document.value.chat_id as string | null | undefined) ?? null;
  }

  get media(): MediaRequest {
    const { voice, speed, response_format: format } = this.document.value;
    return {
      choices: {
        voice: { field: "voice", value: (isObject(voice as JsonValue) ? (voice as JsonObject).id : voice) as string },
        format: {
          field: "response_format",
          value: (format as string | null | undefined) ?? null,
          choose: (value) => this.document.set("response_format", value),
          usual: "mp3",
        },
      },
      measures: {
        input_characters: { field: "input", value: this.writtenCharacters },
        speed: { field: "speed", value: (speed as number | null | undefined) ?? 1 },
      },
      brings: {},
    };
  }

  get contentType(): string {
    return TYPES[((this.document.value.response_format as string | null | undefined) ?? "mp3") as keyof typeof TYPES];
  }

  /** The request independent of the vendor, for translation. */
  requested(): SpeechRequested {
    const { value } = this.document;
    const isSet = (name: string) => value[name] !== undefined && value[name] !== null;
    return {
      input: value.input as string,
      voice: this.media.choices.voice?.value as string,
      instructions: (value.instructions as string | null | undefined) || null,
      speed: (value.speed as number | null | undefined) ?? null,
      format: (value.response_format as string | null | undefined) ?? null,
      others: Object.keys(value).filter((name) => !TRANSLATED.has(name) && isSet(name)),
    };
  }

  texts(): readonly TextSlot[] {
    const slots = ["input", "instructions"].flatMap((name): TextSlot[] => {
      const text = this.document.value[name];
      return typeof text === "string" ? [{ role: "user", kind: "text", text, replace: (next) => this.document.set(name, next) }] : [];
    });
    return [...otherTexts(this.document.value, KNOWN, (member) => this.document.touch(member)), ...slots];
  }

  override outbound(changes: { readonly model: string }): string {
    const edits = new Map<string, string | null>();
    for (const name of OURS) if (this.document.has(name)) edits.set(name, null);
    return super.outbound(changes, edits);
  }
}

/** Each problem names its field. */
export function readSpeechRequest(bytes: Uint8Array): SpeechRequest | { readonly fields: readonly FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const fields = modelProblems(document);
  const { input, voice, instructions, response_format: format, speed, stream_format: framing, persist } = document.value;
  const isSet = (value: unknown) => value !== undefined && value !== null;
  const check = (field: string, good: boolean, message: string) => {
    if (!good) fields.push({ field, message });
  };
  check("input", typeof input === "string" && input.trim() !== "", "must be a text that is not empty");
  const named = isObject(voice) ? voice.id : voice;
  check("voice", typeof named === "string" && named !== "", "must name a voice");
  check("instructions", !isSet(instructions) || typeof instructions === "string", "must be a text");
  check("response_format", !isSet(format) || FORMATS.includes(format as string), `must be one of ${FORMATS.join(", ")}`);
  check(
    "speed",
    !isSet(speed) || (typeof speed === "number" && speed >= SLOWEST && speed <= FASTEST),
    `must be from ${SLOWEST} to ${FASTEST}`,
  );
  check("stream_format", !isSet(framing) || framing === "audio" || framing === "sse", "must be audio or sse");
  check("stream_format", framing !== "sse" || persist !== true, "must be audio where the sound is to be stored (`persist`)");
  check("persist", !isSet(persist) || typeof persist === "boolean", "must be true or false");
  fields.push(...storedTextProblems(document.value, ["chat_id"]));
  return fields.length > 0 ? { fields } : new SpeechRequest(document);
}

import { ownEntry } from "../../kernel/collections/own-entry.ts";
import type { MediaFile } from "../../kernel/files/media-file.ts";
import type { OutboundBytes } from "../../kernel/http/outbound-bytes.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { JsonDocument } from "../json/document.ts";
import { formBody } from "../http/form-body.ts";
import type { OutboundChanges, TextSlot } from "../inbound.ts";
import type { MediaAsked, Sound } from "../media-asked.ts";
import { PromptedRequest } from "../prompted-request.ts";
import { type SentFile, sentFile, sentNames } from "../http/sent-file.ts";

/** What may be asked for, and as what it is asked for of the provider: forms without a usage are written here. */
export const TRANSCRIPT_FORMATS = {
  json: "json",
  text: "json",
  srt: "verbose_json",
  vtt: "verbose_json",
  verbose_json: "verbose_json",
} as const;
export type TranscriptFormat = keyof typeof TRANSCRIPT_FORMATS | "diarized_json";
/** Members that only the gateway reads. */
const OURS = ["model_id", "chat_id", "display_name", "persist"];

/** Members that were read to be what they may be, or are not sent. */
const READ = new Set([...OURS, "model", "response_format", "stream"]);
const LANGUAGE = /^[a-z]{2,3}(?:[-_](?:[a-z]{4}|[a-z]{2}|\d{3})){0,2}$/i;
const NUMBER = /^\d{1,5}$|^\d\.\d{1,4}$/;
/** How members are spelled in which nobody says anything to a model. A value that is not of these is a text like any other. */
const PLAIN: Readonly<Record<string, RegExp>> = {
  language: LANGUAGE,
  "languages[]": LANGUAGE,
  temperature: NUMBER,
  "timestamp_granularities[]": /^(?:word|segment)$/,
  "include[]": /^logprobs$/,
  "known_speaker_references[]": /^data:audio\/[\w.+-]{1,40};base64,[A-Za-z0-9+/=]*$/,
};
const CHUNKING = /^chunking_strategy(?:\[\w{1,40}\])?$/;
const CHUNKED = /^(?:auto|server_vad|\d{1,5}|\d\.\d{1,4})$/;
/** Names of fields, those of lists and of members within members too. */
const FIELD_NAME = /^[\w.$:-]{1,64}(?:\[\w{0,40}\])?$/;

/** A form for POST /audio/transcriptions or /audio/translations as OpenAI's clients send it. */
export class TranscriptionRequest extends PromptedRequest {
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "prompt" };
  readonly operation: "transcriptions" | "translations";
  readonly file: MediaFile;
  override readonly stream: boolean;
  private readonly sentFile: SentFile;
  private readonly formBytes: number;

  constructor(document: JsonDocument, operation: TranscriptionRequest["operation"], file: MediaFile, formBytes: number) {
    super(document);
    this.operation = operation;
    this.file = file;
    this.sentFile = sentFile("file", file);
    this.stream = document.value.stream === "true";
    this.formBytes = formBytes;
  }

  get format(): TranscriptFormat {
    return (this.document.value.response_format as TranscriptFormat | undefined) ?? "json";
  }

  get sound(): Sound {
    return { seconds: this.file.seconds, textBytes: Math.max(0, this.formBytes - this.file.bytes) };
  }

  get media(): MediaAsked {
    const { language, response_format: format } = this.document.value;
    return {
      choices: {
        // What is spoken can be said by its caller only; a translation is told no language.
        ...(this.operation === "transcriptions" && {
          language: { field: "language", value: (language as string | undefined) ?? null, choose: null },
        }),
        format: {
          field: "response_format",
          value: (format as string | undefined) ?? null,
          choose: (value) => this.document.set("response_format", value),
          usual: "json",
        },
      },
      measures: {
        input_characters: { field: "prompt", value: this.writtenCharacters },
        duration_seconds: { field: "file", value: this.file.seconds },
        file_size_mb: { field: "file", value: this.file.bytes / 1024 / 1024 },
      },
      brings: {},
    };
  }

  get chatId(): string | null {
    return (this.document.value.chat_id as string | undefined) ?? null;
  }

  get displayName(): string | null {
    return (this.document.value.display_name as string | undefined) ?? null;
  }

  get persist(): boolean {
    return this.document.value.persist === "true";
  }

  texts(): readonly TextSlot[] {
    return Object.entries(this.document.value).flatMap(([name, value]): TextSlot[] => {
      if (READ.has(name)) return [];
      const plain = CHUNKING.test(name) ? CHUNKED : ownEntry(PLAIN, name);
      const slots: TextSlot[] = FIELD_NAME.test(name) ? [] : [{ role: "user", kind: "fixed_name", text: name, replace: () => undefined }];
      const said = (text: string, put: (next: string) => void) => {
        if (plain?.test(text) === true) return;
        const replace = (next: string) => {
          put(next);
          this.document.touch(name);
        };
        slots.push({ role: "user", kind: "text", text, replace });
      };
      if (typeof value === "string") said(value, (next) => this.document.set(name, next));
      else for (const [at, text] of (value as string[]).entries()) said(text, (next) => void ((value as string[])[at] = next));
      return slots;
    });
  }

  override definitions(): readonly TextSlot[] {
    return sentNames([this.sentFile]);
  }

  /** What the form says, for the record: the sound in it by its hash. */
  override outbound({ model }: Pick<OutboundChanges, "model">): string {
    const { mimeType: mime_type, bytes: size_bytes, hash: sha256 } = this.file;
    return JSON.stringify({ ...this.sent(model), file: { mime_type, size_bytes, sha256 } });
  }

  form({ model }: Pick<OutboundChanges, "model">): OutboundBytes {
    const fields = Object.entries(this.sent(model)).flatMap(([name, value]) =>
      (Array.isArray(value) ? (value as string[]) : [value as string]).map((one) => [name, one] as const),
    );
    return formBody(fields, [this.sentFile]);
  }

  private sent(model: string): JsonObject {
    const sent = { ...this.document.value, model };
    for (const name of OURS) delete (sent as JsonObject)[name];
    const format = TRANSCRIPT_FORMATS[this.format as keyof typeof TRANSCRIPT_FORMATS] ?? this.format;
    return this.document.has("response_format") ? { ...sent, response_format: format } : sent;
  }
}

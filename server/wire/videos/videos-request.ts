import type { Refusal } from "../../kernel/errors.ts";
import type { MediaFile } from "../../kernel/files/media-file.ts";
import type { OutboundBytes } from "../../kernel/http/outbound-bytes.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem, JsonDocument } from "../json/document.ts";
import { formBody } from "../http/form-body.ts";
import type { OutboundChanges, TextSlot } from "../inbound.ts";
import { storedTextProblems } from "../texts/kept-texts.ts";
import { knownMembers, otherTexts } from "../texts/other-texts.ts";
import type { ReferencedVideo, MediaRequest } from "../media-request.ts";
import { modelProblems, PromptedRequest } from "../prompted-request.ts";
import { type SentFile, sentFile, sentNames } from "../http/sent-file.ts";
import { aspectOf, frameSizeOf, isSameResolution } from "./resolution.ts";
import { openaiVideoFields } from "./openai-videos.ts";
import type { VideoRequested, VideoDerivation } from "./video-codec.ts";

/** Members read by the gateway only. */
const OURS = ["chat_id", "display_name"];
/** Members of the gateway's interface or OpenAI's format that have an equivalent in providers' formats. */
const TRANSLATED = ["model", "model_id", "prompt", "resolution", "size", "duration_seconds", "seconds", "aspect_ratio"];
const NAMED = new Set([...OURS, ...TRANSLATED, "negative_prompt", "seed", "input_reference", "n"]);
const KNOWN = knownMembers({
  read: `${OURS.join(" ")} input_reference`,
  plain: "resolution size duration_seconds seconds aspect_ratio seed n",
  protocol: "video",
});
const MAX_SECONDS = 86_400;

/** One of the caller's videos from which a new one is derived. */
export interface FilmedBefore {
  readonly as: VideoDerivation;
  readonly jobId: string;
  readonly upstreamId: string;
  readonly modelId: string;
  readonly providerKey: string;
  readonly resolution: string | null;
  /** Duration of the video; null if unknown. */
  readonly seconds: number | null;
  /** The name of the member that refers to it in the caller's request. */
  readonly field: string;
  /** Opens its file, for as long as that is kept. */
  open(): Promise<MediaFile | Refusal>;
}

/** A video request, with the members of the gateway's interface or of OpenAI's format. */
export class VideosRequest extends PromptedRequest {
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "prompt" };
  /** The image used as first frame. */
  readonly reference: MediaFile | null;
  /** Null if the video is not derived from another. */
  readonly source: FilmedBefore | null = null;
  private readonly sentFiles: readonly SentFile[];
  private readonly formBytes: number | null;

  constructor(document: JsonDocument, reference: MediaFile | null, formBytes: number | null) {
    super(document);
    this.reference = reference;
    this.sentFiles = reference === null ? [] : [sentFile("input_reference", reference)];
    this.formBytes = formBytes;
  }

  protected textOf(name: string): string | null {
    const value = this.document.value[name];
    return typeof value === "string" && value !== "" ? value : null;
  }

  get resolution(): string | null {
    return this.textOf("resolution") ?? this.textOf("size");
  }

  get seconds(): number | null {
    const { duration_seconds: ours, seconds: theirs } = this.document.value;
    const given = ours ?? theirs ?? null;
    return given === null ? null : Number(given);
  }

  get chatId(): string | null {
    return this.textOf("chat_id");
  }

  get displayName(): string | null {
    return this.textOf("display_name");
  }

  get video(): ReferencedVideo {
    const textBytes = this.formBytes === null ? null : Math.max(0, this.formBytes - (this.reference?.bytes ?? 0));
    return { seconds: this.seconds, resolution: this.resolution, textBytes };
  }

  get media(): MediaRequest {
    const resolution = this.document.has("size") ? "size" : "resolution";
    const seconds = this.document.has("seconds") ? "seconds" : "duration_seconds";
    return {
      choices: {
        resolution: {
          ...{ field: resolution, value: this.resolution, same: isSameResolution },
          choose: (value) => this.document.set("resolution", value),
        },
      },
      measures: {
        n: { field: "n", value: 1 },
        duration_seconds: { field: seconds, value: this.seconds },
        input_characters: { field: "prompt", value: this.writtenCharacters },
      },
      brings: { image_input: { field: "input_reference", there: this.reference !== null } },
    };
  }

  /** The prompt, and vendors' other text members such as a negative prompt. */
  texts(): readonly TextSlot[] {
    return otherTexts(this.document.value, KNOWN, (member) => this.document.touch(member));
  }

  override definitions(): readonly TextSlot[] {
    return sentNames(this.sentFiles);
  }

  /** The request independent of the vendor, for translation. */
  requested(reference: VideoRequested["reference"], source: VideoRequested["source"] = null): VideoRequested {
    const { value } = this.document;
    const frame = this.resolution === null ? null : frameSizeOf(this.resolution);
    return {
      prompt: value.prompt as string,
      seconds: this.seconds,
      resolution: this.resolution,
      aspect: this.textOf("aspect_ratio") ?? (frame === null ? null : aspectOf(frame)),
      negativePrompt: this.textOf("negative_prompt"),
      seed: typeof value.seed === "number" ? value.seed : null,
      ...{ reference, source },
      others: Object.keys(value).filter((name) => !NAMED.has(name) && (value[name] ?? null) !== null),
    };
  }

  /** OpenAI's form as JSON for the audit record, with a hash in place of the image. */
  override outbound({ model }: Pick<OutboundChanges, "model">): string {
    const { reference } = this;
    const shown = reference && { mime_type: reference.mimeType, size_bytes: reference.bytes, sha256: reference.hash };
    return JSON.stringify({ ...this.sent(model), ...(shown && { input_reference: shown }) });
  }

  form({ model }: Pick<OutboundChanges, "model">): OutboundBytes {
    const fields = Object.entries(this.sent(model)).map(
      ([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)] as const,
    );
    return formBody(fields, this.sentFiles);
  }

  private sent(model: string): JsonObject {
    const { value } = this.document;
    const others = Object.entries(value).filter(
      ([name, one]) => ![...OURS, ...TRANSLATED, "input_reference"].includes(name) && one !== null,
    );
    const own = openaiVideoFields(this.requested(null));
    return { model, ...("fields" in own ? own.fields : { prompt: value.prompt as string }), ...Object.fromEntries(others) };
  }
}

/** Each problem names its field. `formBytes` is null if the request was JSON. */
export function readVideosRequest(
  document: JsonDocument,
  reference: MediaFile | null,
  formBytes: number | null,
): VideosRequest | { readonly fields: readonly FieldProblem[] } {
  const fields = [...modelProblems(document), ...videoProblems(document.value)];
  return fields.length > 0 ? { fields } : new VideosRequest(document, reference, formBytes);
}

/** Parses the numbers in form fields, which are always strings. */
export function spelledOut(form: ReadonlyMap<string, string>): JsonObject {
  const value: JsonObject = Object.fromEntries(form);
  for (const name of ["n", "seed"]) if (/^\d{1,15}$/.test(form.get(name) ?? "")) value[name] = Number(form.get(name));
  return value;
}

export function videoProblems(value: JsonObject): FieldProblem[] {
  const fields: FieldProblem[] = [];
  const isSet = (one: unknown) => one !== undefined && one !== null;
  const check = (field: string, good: boolean, message: string) => {
    if (!good) fields.push({ field, message });
  };
  const { prompt, resolution, size, duration_seconds: ours, seconds: theirs, n, seed } = value;
  check("prompt", typeof prompt === "string" && prompt.trim() !== "", "must be a text that is not empty");
  for (const [field, one] of [
    ["resolution", resolution],
    ["size", size],
    ["aspect_ratio", value.aspect_ratio],
    ["negative_prompt", value.negative_prompt],
  ] as const)
    check(field, !isSet(one) || (typeof one === "string" && one !== ""), "must be a text");
  check("size", !(isSet(size) && isSet(resolution)), "says again what `resolution` says");
  const long = (one: unknown) => typeof one === "number" && one > 0 && one <= MAX_SECONDS;
  const spelled = typeof theirs === "string" && /^\d{1,5}(\.\d{1,3})?$/.test(theirs) ? Number(theirs) : theirs;
  const spelledOurs = typeof ours === "string" && /^\d{1,5}(\.\d{1,3})?$/.test(ours) ? Number(ours) : ours;
  const whole = long(spelledOurs) && Number.isInteger(spelledOurs);
  check("duration_seconds", !isSet(ours) || whole, `must be a whole number of seconds, above 0 and at most ${MAX_SECONDS}`);
  check("seconds", !isSet(theirs) || long(spelled), `must be a number of seconds, above 0 and at most ${MAX_SECONDS}`);
  check("seconds", !(isSet(ours) && isSet(theirs)), "says again what `duration_seconds` says");
  check("n", !isSet(n) || n === 1, "must be 1: a job makes one video");
  check("seed", !isSet(seed) || Number.isSafeInteger(seed), "must be a whole number");
  return [...fields, ...storedTextProblems(value, OURS)];
}

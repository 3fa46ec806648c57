import type { TextSlot } from "../inbound.ts";
import type { JsonDocument } from "../json/document.ts";
import type { MediaRequest, Pictures } from "../media-request.ts";
import { knownMembers, otherTexts } from "../texts/other-texts.ts";
import { PromptedRequest } from "../prompted-request.ts";
import { sizeOf } from "./image-size.ts";
import { pictureTokensOf } from "./picture-tokens.ts";
import type { PicturesRequested } from "./pictures-codec.ts";

/** Members read by the gateway only. */
export const OURS: readonly string[] = ["chat_id", "display_name"];

/** Members that contain no text for the model, and those with vendors' images. */
const KNOWN = knownMembers({
  read: OURS.join(" "),
  plain: "size quality style response_format background output_format moderation input_fidelity user aspect_ratio",
  protocol: "image images mask input_image reference_images",
});
/** Members that have an equivalent in other vendors' formats. */
const TRANSLATED = new Set([...OURS, "model", "model_id", "prompt", "n", "size", "quality", "response_format", "stream"]);
const USUAL_SIZE = "1024x1024";

/** A request to generate or edit images. */
export abstract class PicturesRequest extends PromptedRequest {
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "prompt" };
  abstract readonly operation: "images" | "image_edits";
  override readonly stream: boolean;

  constructor(document: JsonDocument) {
    super(document);
    this.stream = document.value.stream === true;
  }

  get quality(): string | null {
    return (this.document.value.quality as string | null | undefined) ?? null;
  }

  get size(): string | null {
    return (this.document.value.size as string | null | undefined) ?? null;
  }

  get pictures(): Pictures {
    const size = sizeOf(this.size);
    const partials = this.stream ? Number(this.document.value.partial_images ?? 0) : 0;
    return {
      count: Number(this.document.value.n ?? 1),
      tokensEach: pictureTokensOf(size, partials),
      // Null if the model chooses, because the size is then unknown.
      asked: { quality: this.quality, size: this.size === null ? USUAL_SIZE : size && this.size },
    };
  }

  get media(): MediaRequest {
    const textOf = (field: string) => (this.document.value[field] as string | null | undefined) ?? null;
    const choose = (field: string) => (value: string) => this.document.set(field, value);
    return {
      choices: {
        dim: { field: "size", value: textOf("size"), choose: choose("size"), usual: USUAL_SIZE },
        quality: { field: "quality", value: textOf("quality"), choose: choose("quality") },
        style: { field: "style", value: textOf("style") },
      },
      measures: { n: { field: "n", value: this.pictures.count }, input_characters: { field: "prompt", value: this.writtenCharacters } },
      brings: { image_input: { field: "image", there: this.operation === "image_edits" } },
    };
  }

  override get candidates(): number {
    return this.pictures.count;
  }

  get chatId(): string | null {
    return (this.document.value.chat_id as string | null | undefined) ?? null;
  }

  get displayName(): string | null {
    return (this.document.value.display_name as string | null | undefined) ?? null;
  }

  /** Whether the caller wants URLs of stored images instead of bytes. Streams always contain bytes, because their events have no URL. */
  get asAddresses(): boolean {
    return !this.stream && this.document.value.response_format !== "b64_json";
  }

  /** The prompt, and vendors' other text members such as a negative prompt. */
  texts(): readonly TextSlot[] {
    return otherTexts(this.document.value, KNOWN, (member) => this.document.touch(member));
  }

  /** The request independent of the vendor, for translation. */
  requested(shown: PicturesRequested["shown"]): PicturesRequested {
    const { value } = this.document;
    return {
      prompt: value.prompt as string,
      count: this.pictures.count,
      size: sizeOf(value.size),
      quality: this.quality,
      shown,
      others: Object.keys(value).filter((name) => !TRANSLATED.has(name) && (value[name] ?? null) !== null),
    };
  }
}

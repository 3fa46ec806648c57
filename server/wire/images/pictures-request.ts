import type { TextSlot } from "../inbound.ts";
import type { MediaAsked, Pictures } from "../media-asked.ts";
import { knownMembers, otherTexts } from "../other-texts.ts";
import { PromptedRequest } from "../prompted-request.ts";
import { sizeOf } from "./image-size.ts";
import type { PicturesAsked } from "./pictures-codec.ts";

/** Members that only the gateway reads. */
export const OURS: readonly string[] = ["chat_id", "display_name"];

/** Members in which nobody says anything to a model, and those that vendors have pictures in. */
const KNOWN = knownMembers({
  read: OURS.join(" "),
  plain: "size quality style response_format background output_format moderation input_fidelity user aspect_ratio",
  protocol: "image images mask input_image reference_images",
});
/** What a translation says in a vendor's own words. */
const TRANSLATED = new Set([...OURS, "model", "model_id", "prompt", "n", "size", "quality", "response_format", "stream"]);
const USUAL_SIZE = "1024x1024";
/** The largest picture that any model served here draws, in pixels. */
const LARGEST = 3840 * 2160;
/** Fewer than any vendor's finest quality spends on a token. */
const PIXELS_PER_TOKEN = 200;

/** A request for pictures, drawn anew or from others. */
export abstract class PicturesRequest extends PromptedRequest {
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "prompt" };
  abstract readonly operation: "images" | "image_edits";

  get quality(): string | null {
    return (this.document.value.quality as string | null | undefined) ?? null;
  }

  get pictures(): Pictures {
    const size = sizeOf(this.document.value.size);
    const pixels = size === null ? LARGEST : size.width * size.height;
    const said = typeof this.document.value.size === "string" && size !== null ? this.document.value.size : null;
    return {
      count: Number(this.document.value.n ?? 1),
      tokensEach: Math.ceil(pixels / PIXELS_PER_TOKEN),
      asked: { quality: this.quality, size: said },
    };
  }

  get media(): MediaAsked {
    const said = (field: string) => (this.document.value[field] as string | null | undefined) ?? null;
    const choose = (field: string) => (value: string) => this.document.set(field, value);
    return {
      choices: {
        dim: { field: "size", value: said("size"), choose: choose("size"), usual: USUAL_SIZE },
        quality: { field: "quality", value: said("quality"), choose: choose("quality") },
        style: { field: "style", value: said("style") },
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

  /** Whether its caller wants addresses of stored pictures, and not their bytes. */
  get asAddresses(): boolean {
    return this.document.value.response_format !== "b64_json";
  }

  /** The prompt, and what else vendors let be said: what is to be left out of a picture, for one. */
  texts(): readonly TextSlot[] {
    return otherTexts(this.document.value, KNOWN, (member) => this.document.touch(member));
  }

  /** In no vendor's form, for a translation. */
  asked(shown: PicturesAsked["shown"]): PicturesAsked {
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

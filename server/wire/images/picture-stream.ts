import type { JsonObject } from "../../kernel/json-value.ts";
import type { Pictures } from "../media-request.ts";
import { type EventPlace, PassedEvents } from "../streams/passed-events.ts";
import { addedUsage, estimateTokens, plausibleUsage, type Usage } from "../usage.ts";
import { sizeOf } from "./image-size.ts";
import { NO_PICTURES, onlyPictures, reportedPictureTokens } from "./images-reply.ts";
import { pictureTokensOf, TOKENS_OF_SHOWN } from "./picture-tokens.ts";

/** The size of the largest possible image in base64, uncompressed and with transparency. */
const MAX_EVENT_BYTES = 48 * 1024 * 1024;
const EVENT = /^image_(?:generation|edit)\.(partial_image|completed)$/;

/** Passes through a stream of images, possibly with partial previews. */
export class PictureStream extends PassedEvents {
  readonly outputLength = 0;
  private readonly requested: Pictures;
  private readonly inputCharacters: number;
  private reportedUsage: Usage = NO_PICTURES;
  private finished = 0;
  /** The maximum tokens of an image that has been previewed but is not finished. */
  private unfinished: number | null = null;

  constructor(requested: Pictures, inputCharacters: number) {
    super(MAX_EVENT_BYTES);
    this.requested = requested;
    this.inputCharacters = inputCharacters;
  }

  /** A previewed image counts as delivered: otherwise aborting in time would be free. */
  get usage(): Usage | null {
    if (!this.begun) return null;
    const images = this.finished + (this.unfinished === null ? 0 : 1);
    const metered = this.unfinished === null ? this.reportedUsage : addedUsage(this.reportedUsage, this.estimated(this.unfinished));
    const usage = plausibleUsage({ ...metered, images }) ?? onlyPictures(images);
    return this.requested.asked === undefined ? usage : { ...usage, requestedImages: this.requested.asked };
  }

  /** Fewer images than requested may come. */
  protected get complete(): boolean {
    return this.finished > 0 && this.unfinished === null;
  }

  protected read({ size, usage }: JsonObject, type: string): EventPlace {
    const [, what] = EVENT.exec(type) ?? [];
    if (what === undefined) return "within";
    this.begun = true;
    if (what === "partial_image") {
      const shown = sizeOf(size);
      this.unfinished = Math.min(this.requested.tokensEach, shown === null ? this.requested.tokensEach : pictureTokensOf(shown));
      return "within";
    }
    this.unfinished = null;
    this.finished++;
    this.reportedUsage = addedUsage(this.reportedUsage, reportedPictureTokens(usage));
    return this.finished >= this.requested.count ? "ends" : "may_end";
  }

  private estimated(output: number): Usage {
    const drawn = { ...NO_PICTURES, output, imageOutput: output, estimated: true };
    // Finished images have reported the input usage.
    if (this.finished > 0) return drawn;
    const imageInput = (this.requested.shown?.count ?? 0) * TOKENS_OF_SHOWN;
    return { ...drawn, inputUncached: estimateTokens(this.inputCharacters) + imageInput, ...(imageInput > 0 && { imageInput }) };
  }
}

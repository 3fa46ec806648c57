/** Pixels of the largest image that any supported model generates. */
const MAX_PIXELS = 3840 * 2160;
/** Fewer than for any vendor's finest quality, so that token counts are an upper bound. */
const PIXELS_PER_TOKEN = 200;
/** The tokens of one partial preview. */
const TOKENS_OF_PARTIAL = 100;
/** The maximum tokens of one input image at any supported vendor. */
export const TOKENS_OF_SHOWN = 10_000;

/** The maximum tokens of an image of this size; of the largest one if the model may choose. */
export function pictureTokensOf(size: { readonly width: number; readonly height: number } | null, partials = 0): number {
  const pixels = size === null ? MAX_PIXELS : size.width * size.height;
  return Math.ceil(pixels / PIXELS_PER_TOKEN) + partials * TOKENS_OF_PARTIAL;
}

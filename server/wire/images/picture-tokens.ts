/** The largest picture that any model served here draws, in pixels. */
const LARGEST = 3840 * 2160;
/** Fewer than any vendor's finest quality spends on a token. */
const PIXELS_PER_TOKEN = 200;
/** Of one that is shown before the picture is finished. */
const TOKENS_OF_PARTIAL = 100;
/** What a picture that is shown to a model comes to at most, as any vendor served here counts it. */
export const TOKENS_OF_SHOWN = 10_000;

/** The most tokens that a picture of this size may come to; of the largest where the model may choose. */
export function pictureTokensOf(size: { readonly width: number; readonly height: number } | null, partials = 0): number {
  const pixels = size === null ? LARGEST : size.width * size.height;
  return Math.ceil(pixels / PIXELS_PER_TOKEN) + partials * TOKENS_OF_PARTIAL;
}

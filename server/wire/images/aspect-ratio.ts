/** Relative difference up to which ratios count as equal, because vendors round image sizes to multiples. */
const TOLERANCE = 0.03;

/** The ratio in the list ("16:9") that matches this size; null if there is none. */
export function ratioOf(ratios: readonly string[], { width, height }: { readonly width: number; readonly height: number }): string | null {
  const requestedRatio = width / height;
  return (
    ratios.find((ratio) => {
      const [across = 1, down = 1] = ratio.split(":").map(Number);
      return Math.abs(across / down / requestedRatio - 1) < TOLERANCE;
    }) ?? null
  );
}

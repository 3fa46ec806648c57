/** Sides whose ratio differs by less are taken for the same: vendors round to multiples of their own. */
const TOLERANCE = 0.03;

/** The ratio of a list ("16:9") that a picture of this size has; null where it has none of them. */
export function ratioOf(ratios: readonly string[], { width, height }: { readonly width: number; readonly height: number }): string | null {
  const asked = width / height;
  return (
    ratios.find((ratio) => {
      const [across = 1, down = 1] = ratio.split(":").map(Number);
      return Math.abs(across / down / asked - 1) < TOLERANCE;
    }) ?? null
  );
}

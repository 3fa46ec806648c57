export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Theil-Sen slope (median of the slopes between all pairs of readings, one unit apart), which is robust against outliers. */
export function slope(readings: readonly number[]): number {
  const slopes = readings.flatMap((from, index) => readings.slice(index + 1).map((to, distance) => (to - from) / (distance + 1)));
  return median(slopes);
}

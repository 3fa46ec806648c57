/**
 * Drift that no single event shows: what a call costs, how many tokens it takes and how often it fails, against what was
 * normal. Each is a CUSUM over buckets of calls, so that a small lasting shift is found and a single odd hour is not; a
 * finding needs an effect that matters as well, because with many calls any trifle is significant.
 */

/** What the calls of one hour came to. */
export interface HourOfCalls {
  readonly at: number;
  readonly calls: number;
  readonly errors: number;
  readonly micros: number;
  /** Calls whose cost is not known; with any, the hour says nothing of cost. */
  readonly unpriced: number;
  readonly tokens: number;
}

export type Metric = "cost" | "token_shape" | "error_rate";

/** Mean and spread of a metric over the buckets of the time in which it was learned; null where there were too few. */
export type NormalFigures = Readonly<Record<Metric, { readonly mean: number; readonly spread: number } | null>>;

export interface Shift {
  readonly metric: Metric;
  readonly before: number;
  readonly now: number;
  /** End of the newest bucket that shows it, milliseconds. */
  readonly at: number;
  /** Of the first. */
  readonly since: number;
  readonly calls: number;
}

/** Fewer calls make no bucket: the next hours are added to them. */
const BUCKET_CALLS = 100;
const FEWEST_BUCKETS = 10;
const FEWEST_CALLS = 1_000;
/** Half the shift that is looked for, and the sum at which it is found, in spreads: one false alarm in more than 10,000 buckets of normal traffic. */
const SLACK = 0.5;
const THRESHOLD = 8;
/** How far the sum runs, so that it comes back once things are normal again. */
const HIGHEST = 2 * THRESHOLD;
const HOUR_MS = 3_600_000;

/** The least change that matters: of costs and tokens as a share, of errors in points of the rate. */
const LEAST_SHARE = 0.15;
const LEAST_POINTS = 0.02;
/** A spread that is smaller is taken for this share of the mean: what hardly varied is not alarmed by a rounding. */
const LEAST_SPREAD = 0.02;

interface Bucket {
  readonly from: number;
  readonly to: number;
  readonly calls: number;
  readonly value: number;
}

const VALUES: Record<Metric, (hour: HourOfCalls) => number | null> = {
  cost: ({ micros, unpriced }) => (unpriced > 0 ? null : micros),
  token_shape: ({ tokens }) => tokens,
  error_rate: ({ errors }) => errors,
};

export const METRICS = Object.keys(VALUES) as readonly Metric[];

function bucketsOf(hours: readonly HourOfCalls[], metric: Metric): Bucket[] {
  const buckets: Bucket[] = [];
  let open: { from: number; calls: number; sum: number } | null = null;
  for (const hour of hours) {
    const value = VALUES[metric](hour);
    if (value === null || hour.calls === 0) continue;
    open ??= { from: hour.at, calls: 0, sum: 0 };
    open.calls += hour.calls;
    open.sum += value;
    if (open.calls < BUCKET_CALLS) continue;
    buckets.push({ from: open.from, to: hour.at + HOUR_MS, calls: open.calls, value: open.sum / open.calls });
    open = null;
  }
  return buckets;
}

/** What is normal over these hours, oldest first. */
export function normalFigures(hours: readonly HourOfCalls[]): NormalFigures {
  return Object.fromEntries(METRICS.map((metric) => [metric, figuresOf(bucketsOf(hours, metric), metric)])) as unknown as NormalFigures;
}

function figuresOf(buckets: readonly Bucket[], metric: Metric): NormalFigures[Metric] {
  const calls = buckets.reduce((sum, bucket) => sum + bucket.calls, 0);
  if (buckets.length < FEWEST_BUCKETS || calls < FEWEST_CALLS) return null;
  const mean = buckets.reduce((sum, bucket) => sum + bucket.value * bucket.calls, 0) / calls;
  const squares = buckets.reduce((sum, { value }) => sum + (value - mean) ** 2, 0);
  const seen = Math.sqrt(squares / (buckets.length - 1));
  // Of few errors the spread that was seen says less than what chance alone makes of buckets of their size.
  const chance = metric === "error_rate" ? Math.sqrt((Math.max(mean, 1 / calls) * (1 - mean)) / BUCKET_CALLS) : LEAST_SPREAD * mean;
  return { mean, spread: Math.max(seen, chance) };
}

/** Metrics that left what is normal and have not come back, over the hours since then, oldest first. */
export function shiftsIn(hours: readonly HourOfCalls[], normal: NormalFigures): Shift[] {
  return METRICS.flatMap((metric) => {
    const figures = normal[metric];
    if (figures === null || figures.spread === 0) return [];
    const buckets = bucketsOf(hours, metric);
    return shiftOf(metric, buckets, figures, 1) ?? (metric === "error_rate" ? null : shiftOf(metric, buckets, figures, -1)) ?? [];
  });
}

function shiftOf(
  metric: Metric,
  buckets: readonly Bucket[],
  { mean, spread }: { mean: number; spread: number },
  direction: 1 | -1,
): Shift | null {
  let sum = 0;
  let run: Bucket[] = [];
  for (const bucket of buckets) {
    sum = Math.min(HIGHEST, Math.max(0, sum + (direction * (bucket.value - mean)) / spread - SLACK));
    run = sum === 0 ? [] : [...run, bucket];
  }
  const [first] = run;
  const last = run.at(-1);
  if (sum < THRESHOLD || first === undefined || last === undefined) return null;
  const calls = run.reduce((all, bucket) => all + bucket.calls, 0);
  const now = run.reduce((all, bucket) => all + bucket.value * bucket.calls, 0) / calls;
  const matters = metric === "error_rate" ? now - mean >= LEAST_POINTS : Math.abs(now - mean) >= LEAST_SHARE * mean;
  return matters ? { metric, before: mean, now, at: last.to, since: first.from, calls } : null;
}

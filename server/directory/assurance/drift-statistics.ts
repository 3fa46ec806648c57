/**
 * Detects drift that no single event shows: changes in cost, tokens, latency, call volume, and rates of errors, refusals
 * and guardrail hits. Most metrics use a CUSUM over buckets of calls, which finds a small lasting shift and ignores a
 * single odd hour. A finding also needs a minimum effect size, because with many calls any trifle is statistically
 * significant.
 */

/** Totals of one hour's calls. Null means unknown for that hour. */
export interface HourOfCalls {
  readonly at: number;
  readonly calls: number;
  readonly errors: number;
  readonly micros: number;
  /** Calls of unknown cost; if there are any, the hour is not used for cost. */
  readonly unpriced: number;
  readonly tokens: number;
  /** The number of answered model calls, and the sum of the logarithms of their latencies in milliseconds. */
  readonly timed?: number | null;
  readonly log_ms?: number | null;
  /** Out of `told` calls, how many were refused and how many a guardrail reacted to. */
  readonly refused?: number | null;
  readonly guarded?: number | null;
  readonly told?: number | null;
}

type BucketMetric = "cost" | "token_shape" | "latency" | "error_rate" | "refusal_rate" | "guardrail_rate";
export type Metric = BucketMetric | "volume";

/**
 * Mean and standard deviation of each metric over the buckets of the learning period; null where there were too few.
 * Latency is logarithmic.
 */
export type NormalFigures = Readonly<Partial<Record<Metric, { readonly mean: number; readonly spread: number } | null>>>;

export interface Shift {
  readonly metric: Metric;
  readonly before: number;
  readonly now: number;
  /** End of the newest bucket that shows the shift, epoch milliseconds. */
  readonly at: number;
  /** Start of the first bucket that shows it, epoch milliseconds. */
  readonly since: number;
  readonly calls: number;
}

/** A bucket with fewer calls is extended by the hours that follow. */
const BUCKET_CALLS = 100;
const MIN_BUCKETS = 10;
const MIN_CALLS = 1_000;
/**
 * CUSUM slack (half the shift to detect) and threshold, in standard deviations: less than one false alarm in 20,000
 * buckets of normal traffic.
 */
const SLACK = 0.5;
const THRESHOLD = 9;
/** Caps the sum, so that it recovers once traffic is normal again. */
const HIGHEST = 2 * THRESHOLD;
const HOUR_MS = 3_600_000;
/** Traffic varies by time of day and day of the week, so whole weeks are compared. */
const WEEK_HOURS = 168;
/** How far a week's volume must deviate: as a factor, and in standard deviations of pure chance for that many calls. */
const MIN_VOLUME = 1.5;
const VOLUME_SPREADS = 5;

/** Minimum standard deviation as a share of the mean, so that rounding raises no alarm for a metric that hardly varied. */
const MIN_SPREAD = 0.02;

interface Bucket {
  readonly from: number;
  readonly to: number;
  readonly calls: number;
  readonly value: number;
}

interface Measure {
  /** Sum and count of an hour; null if the hour is not usable. */
  readonly of: (hour: HourOfCalls) => { readonly sum: number; readonly calls: number } | null;
  readonly directions: readonly (1 | -1)[];
  readonly matters: (before: number, now: number) => boolean;
  /** The standard deviation of a bucket due to chance alone. */
  readonly chance: (mean: number, calls: number) => number;
  /** Converts a value to the scale on which it is shown, and back. */
  readonly shown: (value: number) => number;
  readonly meant: (shown: number) => number;
}

const same = (value: number): number => value;
const byShare = (least: number) => (before: number, now: number) => Math.abs(now - before) >= least * before;
const amount = (of: Measure["of"]): Measure => ({
  of,
  directions: [1, -1],
  matters: byShare(0.15),
  chance: (mean) => MIN_SPREAD * mean,
  shown: same,
  meant: same,
});
/** For rare events, the chance deviation for the bucket size is a better estimate than the observed one. */
const rate = (of: Measure["of"]): Measure => ({
  of,
  directions: [1],
  matters: (before, now) => now - before >= 0.02,
  chance: (mean, calls) => Math.sqrt((Math.max(mean, 1 / calls) * (1 - mean)) / BUCKET_CALLS),
  shown: same,
  meant: same,
});
const among = (count: number | null | undefined, calls: number | null | undefined) =>
  count == null || calls == null ? null : { sum: count, calls };

const MEASURES: Readonly<Record<BucketMetric, Measure>> = {
  cost: amount(({ micros, unpriced, calls }) => (unpriced > 0 ? null : { sum: micros, calls })),
  token_shape: amount(({ tokens, calls }) => ({ sum: tokens, calls })),
  latency: {
    of: ({ log_ms: sum, timed }) => among(sum, timed),
    directions: [1, -1],
    matters: (before, now) => Math.abs(now - before) >= Math.log(1.25),
    chance: () => Math.log(1.05),
    shown: (value) => Math.expm1(value),
    meant: (shown) => Math.log1p(shown),
  },
  error_rate: rate(({ errors, calls }) => ({ sum: errors, calls })),
  refusal_rate: rate(({ refused, told }) => among(refused, told)),
  guardrail_rate: rate(({ guarded, told }) => among(guarded, told)),
};

const BUCKETED = Object.keys(MEASURES) as readonly BucketMetric[];
export const METRICS: readonly Metric[] = [...BUCKETED, "volume"];

function bucketsOf(hours: readonly HourOfCalls[], metric: BucketMetric): Bucket[] {
  const buckets: Bucket[] = [];
  let open: { from: number; calls: number; sum: number } | null = null;
  for (const hour of hours) {
    const measured = MEASURES[metric].of(hour);
    if (measured === null || measured.calls === 0) continue;
    open ??= { from: hour.at, calls: 0, sum: 0 };
    open.calls += measured.calls;
    open.sum += measured.sum;
    if (open.calls < BUCKET_CALLS) continue;
    buckets.push({ from: open.from, to: hour.at + HOUR_MS, calls: open.calls, value: open.sum / open.calls });
    open = null;
  }
  return buckets;
}

/** The normal figures over these hours, oldest first and including hours without calls. */
export function normalFigures(hours: readonly HourOfCalls[]): NormalFigures {
  const figures = BUCKETED.map((metric) => [metric, figuresOf(bucketsOf(hours, metric), metric)]);
  return { ...Object.fromEntries(figures), volume: normalVolume(hours) };
}

function figuresOf(buckets: readonly Bucket[], metric: BucketMetric): { mean: number; spread: number } | null {
  const calls = buckets.reduce((sum, bucket) => sum + bucket.calls, 0);
  if (buckets.length < MIN_BUCKETS || calls < MIN_CALLS) return null;
  const mean = buckets.reduce((sum, bucket) => sum + bucket.value * bucket.calls, 0) / calls;
  const squares = buckets.reduce((sum, { value }) => sum + (value - mean) ** 2, 0);
  const seen = Math.sqrt(squares / (buckets.length - 1));
  return { mean, spread: Math.max(seen, MEASURES[metric].chance(mean, calls)) };
}

/** A metric for display: its normal value and its history. */
export interface Plot {
  readonly metric: Metric;
  readonly normal: number | null;
  readonly points: readonly { readonly at: number; readonly value: number; readonly calls: number }[];
}

const DAY_HOURS = 24;

/** The metrics over these hours, oldest first, with their normal values. Volume is shown per day. */
export function plotsOf(hours: readonly HourOfCalls[], normal: NormalFigures): Plot[] {
  const bucketed = BUCKETED.map((metric): Plot => {
    const { shown } = MEASURES[metric];
    const mean = normal[metric]?.mean;
    const points = bucketsOf(hours, metric).map(({ from, value, calls }) => ({ at: from, value: shown(value), calls }));
    return { metric, normal: mean === undefined ? null : shown(mean), points };
  });
  const days = new Map<number, number>();
  for (const { at, calls } of hours) {
    const day = Math.floor(at / (DAY_HOURS * HOUR_MS)) * DAY_HOURS * HOUR_MS;
    days.set(day, (days.get(day) ?? 0) + calls);
  }
  const week = normal.volume?.mean;
  const points = [...days].map(([at, calls]) => ({ at, value: calls, calls }));
  return [...bucketed, { metric: "volume", normal: week === undefined ? null : (week * DAY_HOURS) / WEEK_HOURS, points }];
}

/** From whole weeks only, since part of a week is not representative. */
function normalVolume(hours: readonly HourOfCalls[]): { mean: number; spread: number } | null {
  const whole = Math.floor(hours.length / WEEK_HOURS) * WEEK_HOURS;
  const calls = hours.slice(hours.length - whole).reduce((sum, hour) => sum + hour.calls, 0);
  if (whole === 0 || calls < MIN_CALLS) return null;
  const week = (WEEK_HOURS * calls) / whole;
  return { mean: week, spread: Math.sqrt(week) };
}

/**
 * Metrics that left the normal range and have not returned, over the hours since the baseline, oldest first and including
 * hours without calls.
 */
export function shiftsIn(hours: readonly HourOfCalls[], normal: NormalFigures): Shift[] {
  return METRICS.flatMap((metric) => {
    const figures = normal[metric] ?? null;
    if (figures === null || figures.spread === 0) return [];
    if (metric === "volume") return volumeShift(hours, figures) ?? [];
    const buckets = bucketsOf(hours, metric);
    for (const direction of MEASURES[metric].directions) {
      const shift = shiftOf(metric, buckets, figures, direction);
      if (shift !== null) return shift;
    }
    return [];
  });
}

function shiftOf(
  metric: BucketMetric,
  buckets: readonly Bucket[],
  { mean, spread }: { mean: number; spread: number },
  direction: 1 | -1,
): Shift | null {
  const { matters, shown } = MEASURES[metric];
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
  return matters(mean, now) ? { metric, before: shown(mean), now: shown(now), at: last.to, since: first.from, calls } : null;
}

/**
 * Whether a shift differs from a known one of its metric: from another normal value, in the other direction, or further
 * away by an amount that matters.
 */
export function isAnotherShift(
  metric: Metric,
  known: Readonly<Record<string, unknown>>,
  { before, now }: Readonly<Record<string, unknown>>,
): boolean {
  const [normal, then, since] = [Number(before), Number(known.now), Number(now)];
  if (known.before !== before || Math.sign(since - normal) !== Math.sign(then - normal)) return true;
  if (Math.abs(since - normal) <= Math.abs(then - normal)) return false;
  if (metric === "volume") return isOtherVolume(then, since);
  const { matters, meant } = MEASURES[metric];
  return matters(meant(then), meant(since));
}

function isOtherVolume(before: number, now: number): boolean {
  const factor = Math.max(now, 1) / Math.max(before, 1);
  return factor >= MIN_VOLUME || factor <= 1 / MIN_VOLUME;
}

/** Compares the newest whole week with a normal week. */
function volumeShift(hours: readonly HourOfCalls[], { mean, spread }: { mean: number; spread: number }): Shift | null {
  const week = hours.slice(-WEEK_HOURS);
  const [first] = week;
  const last = week.at(-1);
  if (week.length < WEEK_HOURS || first === undefined || last === undefined) return null;
  const now = week.reduce((sum, hour) => sum + hour.calls, 0);
  if (!isOtherVolume(mean, now) || Math.abs(now - mean) < VOLUME_SPREADS * spread) return null;
  return { metric: "volume", before: mean, now, at: last.at + HOUR_MS, since: first.at, calls: now };
}

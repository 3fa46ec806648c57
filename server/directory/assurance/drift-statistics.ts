/**
 * Drift that no single event shows: what a call costs, how many tokens and how long it takes, how often it fails, is refused
 * or is caught by a guardrail, and how many calls there are, against what was normal. Most are a CUSUM over buckets of
 * calls, so that a small lasting shift is found and a single odd hour is not; a finding needs an effect that matters as
 * well, because with many calls any trifle is significant.
 */

/** What the calls of one hour came to. What is null is not known of the hour. */
export interface HourOfCalls {
  readonly at: number;
  readonly calls: number;
  readonly errors: number;
  readonly micros: number;
  /** Calls whose cost is not known; with any, the hour says nothing of cost. */
  readonly unpriced: number;
  readonly tokens: number;
  /** Of the calls, those of models that were answered, and the sum of the logarithms of their milliseconds. */
  readonly timed?: number | null;
  readonly log_ms?: number | null;
  /** Of `told` calls, those that were refused, and those that a guardrail had something to say of. */
  readonly refused?: number | null;
  readonly guarded?: number | null;
  readonly told?: number | null;
}

type BucketMetric = "cost" | "token_shape" | "latency" | "error_rate" | "refusal_rate" | "guardrail_rate";
export type Metric = BucketMetric | "volume";

/**
 * Mean and spread of a metric over the buckets of the time in which it was learned; null where there were too few. Of latency the
 * logarithm.
 */
export type NormalFigures = Readonly<Partial<Record<Metric, { readonly mean: number; readonly spread: number } | null>>>;

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
/**
 * Half the shift that is looked for, and the sum at which it is found, in spreads: one false alarm in more than 20,000 buckets of normal
 * traffic.
 */
const SLACK = 0.5;
const THRESHOLD = 9;
/** How far the sum runs, so that it comes back once things are normal again. */
const HIGHEST = 2 * THRESHOLD;
const HOUR_MS = 3_600_000;
/** Calls have their days and nights, and their Sundays: they are compared by whole weeks. */
const WEEK_HOURS = 168;
/** By how much a week's calls leave what is normal, as a factor, and in spreads of what chance alone makes of so many. */
const LEAST_VOLUME = 1.5;
const VOLUME_SPREADS = 5;

/** A spread that is smaller is taken for this share of the mean: what hardly varied is not alarmed by a rounding. */
const LEAST_SPREAD = 0.02;

interface Bucket {
  readonly from: number;
  readonly to: number;
  readonly calls: number;
  readonly value: number;
}

interface Measure {
  /** Sum and count of an hour; null where it says nothing. */
  readonly of: (hour: HourOfCalls) => { readonly sum: number; readonly calls: number } | null;
  readonly directions: readonly (1 | -1)[];
  readonly matters: (before: number, now: number) => boolean;
  /** Spread that chance alone makes of a bucket. */
  readonly chance: (mean: number, calls: number) => number;
  /** As it is told, and back. */
  readonly shown: (value: number) => number;
  readonly meant: (shown: number) => number;
}

const same = (value: number): number => value;
const byShare = (least: number) => (before: number, now: number) => Math.abs(now - before) >= least * before;
const amount = (of: Measure["of"]): Measure => ({
  of,
  directions: [1, -1],
  matters: byShare(0.15),
  chance: (mean) => LEAST_SPREAD * mean,
  shown: same,
  meant: same,
});
/** Of few events the spread that was seen says less than what chance alone makes of buckets of their size. */
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
    const told = MEASURES[metric].of(hour);
    if (told === null || told.calls === 0) continue;
    open ??= { from: hour.at, calls: 0, sum: 0 };
    open.calls += told.calls;
    open.sum += told.sum;
    if (open.calls < BUCKET_CALLS) continue;
    buckets.push({ from: open.from, to: hour.at + HOUR_MS, calls: open.calls, value: open.sum / open.calls });
    open = null;
  }
  return buckets;
}

/** What is normal over these hours, oldest first; hours without calls among them. */
export function normalFigures(hours: readonly HourOfCalls[]): NormalFigures {
  const figures = BUCKETED.map((metric) => [metric, figuresOf(bucketsOf(hours, metric), metric)]);
  return { ...Object.fromEntries(figures), volume: normalVolume(hours) };
}

function figuresOf(buckets: readonly Bucket[], metric: BucketMetric): { mean: number; spread: number } | null {
  const calls = buckets.reduce((sum, bucket) => sum + bucket.calls, 0);
  if (buckets.length < FEWEST_BUCKETS || calls < FEWEST_CALLS) return null;
  const mean = buckets.reduce((sum, bucket) => sum + bucket.value * bucket.calls, 0) / calls;
  const squares = buckets.reduce((sum, { value }) => sum + (value - mean) ** 2, 0);
  const seen = Math.sqrt(squares / (buckets.length - 1));
  return { mean, spread: Math.max(seen, MEASURES[metric].chance(mean, calls)) };
}

/** A metric as it is shown: what is normal, and how it was. */
export interface Plot {
  readonly metric: Metric;
  readonly normal: number | null;
  readonly points: readonly { readonly at: number; readonly value: number; readonly calls: number }[];
}

const DAY_HOURS = 24;

/** The metrics over these hours, oldest first, beside what is normal. Of calls those of a day. */
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

/** Of the whole weeks that there are: part of a week is not like the rest. */
function normalVolume(hours: readonly HourOfCalls[]): { mean: number; spread: number } | null {
  const whole = Math.floor(hours.length / WEEK_HOURS) * WEEK_HOURS;
  const calls = hours.slice(hours.length - whole).reduce((sum, hour) => sum + hour.calls, 0);
  if (whole === 0 || calls < FEWEST_CALLS) return null;
  const week = (WEEK_HOURS * calls) / whole;
  return { mean: week, spread: Math.sqrt(week) };
}

/** Metrics that left what is normal and have not come back, over the hours since then, oldest first, hours without calls among them. */
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
 * Whether a shift is another than a known one of its metric: from another normal, to its other side, or further from it by
 * as much as matters.
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
  return factor >= LEAST_VOLUME || factor <= 1 / LEAST_VOLUME;
}

/** The newest whole week against what a week is normally. */
function volumeShift(hours: readonly HourOfCalls[], { mean, spread }: { mean: number; spread: number }): Shift | null {
  const week = hours.slice(-WEEK_HOURS);
  const [first] = week;
  const last = week.at(-1);
  if (week.length < WEEK_HOURS || first === undefined || last === undefined) return null;
  const now = week.reduce((sum, hour) => sum + hour.calls, 0);
  if (!isOtherVolume(mean, now) || Math.abs(now - mean) < VOLUME_SPREADS * spread) return null;
  return { metric: "volume", before: mean, now, at: last.at + HOUR_MS, since: first.at, calls: now };
}

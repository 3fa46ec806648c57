import { expect, test } from "bun:test";
import { type HourOfCalls, type Metric, METRICS, normalFigures, shiftsIn } from "./drift-statistics.ts";

const HOUR_MS = 3_600_000;
const WEEK = 168;

/** A seeded random generator: the same numbers on every machine. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const bell = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

interface Traffic {
  readonly errorRate: number;
  /** Factor applied to both cost and tokens per call. */
  readonly cost: number;
  /** Factors applied to the number of calls and to latency. */
  readonly volume?: number;
  readonly time?: number;
  readonly refusals?: number;
}

/** Synthetic traffic with a daily rhythm and widely varying call sizes. */
function hours(
  random: () => number,
  from: number,
  count: number,
  { errorRate, cost, volume = 1, time = 1, refusals = 0.01 }: Traffic,
): HourOfCalls[] {
  return Array.from({ length: count }, (_, i) => {
    const hour = (from + i) % 24;
    const isSunday = Math.floor((from + i) / 24) % 7 === 6;
    const calls = Math.max(1, Math.round(((hour < 7 ? 15 : isSunday ? 60 : 160) + bell(random) * 12) * volume));
    const tokens = Math.round(calls * 900 * cost * Math.exp(bell(random) * 0.12));
    const errors = Array.from({ length: calls }).filter(() => random() < errorRate).length;
    const refused = Array.from({ length: calls }).filter(() => random() < refusals).length;
    // Latencies spread over two orders of magnitude, with a bias per hour.
    const weather = bell(random) * 0.08;
    const logMs = Array.from({ length: calls }).reduce((sum: number) => sum + Math.log(800 * time) + weather + bell(random) * 0.9, 0);
    const told = {
      timed: calls,
      log_ms: logMs,
      refused,
      guarded: Array.from({ length: calls }).filter(() => random() < 0.005).length,
      told: calls,
    };
    return { at: (from + i) * HOUR_MS, calls, errors, micros: tokens * 3, unpriced: 0, tokens, ...told };
  });
}

const QUIET: Traffic = { errorRate: 0.02, cost: 1 };

const found = (random: () => number, after: Traffic, count: number) =>
  shiftsIn(hours(random, 2 * WEEK, count, after), normalFigures(hours(random, 0, 2 * WEEK, QUIET))).map(({ metric }) => metric);

test("a hundred stable weeks of different AI Systems give at most one false finding", () => {
  let alarms = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const random = chance(seed);
    const normal = normalFigures(hours(random, 0, 2 * WEEK, QUIET));
    const week = hours(random, 2 * WEEK, WEEK, QUIET);
    // Evaluated each hour, as in production.
    const told = new Set<Metric>();
    for (let end = 1; end <= week.length; end++) for (const { metric } of shiftsIn(week.slice(0, end), normal)) told.add(metric);
    alarms += told.size;
  }
  expect(alarms).toBeLessThanOrEqual(1);
});

test.each([
  ["cost that rose by 30 %", { errorRate: 0.02, cost: 1.3 }, ["cost", "token_shape"]],
  ["cost that fell by 30 %", { errorRate: 0.02, cost: 0.7 }, ["cost", "token_shape"]],
  ["errors that rose from 2 % to 8 %", { errorRate: 0.08, cost: 1 }, ["error_rate"]],
  ["calls that take 40 % longer", { errorRate: 0.02, cost: 1, time: 1.4 }, ["latency"]],
  ["refusals that rose from 1 % to 6 %", { errorRate: 0.02, cost: 1, refusals: 0.06 }, ["refusal_rate"]],
] as const)("%s: found within two days in each of twenty AI Systems, with no other finding", (_name, after, expected) => {
  for (let seed = 1; seed <= 20; seed++) expect(found(chance(1_000 + seed), after, 48)).toEqual([...expected]);
});

test.each([
  ["twice", 2],
  ["half", 0.5],
] as const)("%s the number of calls is found within a week, with no other finding", (_name, volume) => {
  for (let seed = 1; seed <= 20; seed++) {
    expect(found(chance(2_000 + seed), { ...QUIET, volume }, WEEK)).toEqual(["volume"]);
    expect(found(chance(3_000 + seed), { ...QUIET, volume: Math.sqrt(volume) ** 0.5 }, WEEK)).toEqual([]);
  }
});

test("a metric that returned to normal is no finding any more, and too little data gives none", () => {
  const random = chance(7);
  const normal = normalFigures(hours(random, 0, 2 * WEEK, QUIET));
  const wave = [...hours(random, 2 * WEEK, 24, { errorRate: 0.3, cost: 1 }), ...hours(random, 2 * WEEK + 24, 2 * WEEK, QUIET)];
  expect(shiftsIn(wave.slice(0, 24), normal).map(({ metric }) => metric)).toEqual(["error_rate"]);
  expect(shiftsIn(wave, normal)).toEqual([]);
  const nothing = Object.fromEntries(METRICS.map((metric) => [metric, null]));
  expect(normalFigures(hours(random, 0, 5, QUIET))).toEqual(nothing);
  expect(shiftsIn(wave, nothing)).toEqual([]);
});

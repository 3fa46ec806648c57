import { expect, test } from "bun:test";
import { type HourOfCalls, type Metric, normalFigures, shiftsIn } from "./drift-statistics.ts";

const HOUR_MS = 3_600_000;
const WEEK = 168;

/** The same numbers on every machine. */
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
  /** Factor on what a call costs and takes. */
  readonly cost: number;
}

/** A system with days and nights, whose calls vary widely in size. */
function hours(random: () => number, from: number, count: number, { errorRate, cost }: Traffic): HourOfCalls[] {
  return Array.from({ length: count }, (_, i) => {
    const hour = (from + i) % 24;
    const calls = Math.max(1, Math.round((hour < 7 ? 15 : 160) + bell(random) * 12));
    const tokens = Math.round(calls * 900 * cost * Math.exp(bell(random) * 0.12));
    const errors = Array.from({ length: calls }).filter(() => random() < errorRate).length;
    return { at: (from + i) * HOUR_MS, calls, errors, micros: tokens * 3, unpriced: 0, tokens };
  });
}

const QUIET: Traffic = { errorRate: 0.02, cost: 1 };

const found = (random: () => number, after: Traffic, count: number) =>
  shiftsIn(hours(random, 2 * WEEK, count, after), normalFigures(hours(random, 0, 2 * WEEK, QUIET))).map(({ metric }) => metric);

test("a hundred quiet weeks of different systems: at most one false finding", () => {
  let alarms = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const random = chance(seed);
    const normal = normalFigures(hours(random, 0, 2 * WEEK, QUIET));
    const week = hours(random, 2 * WEEK, WEEK, QUIET);
    // Looked at each hour, as it comes.
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
] as const)("%s is found within two days, in each of twenty systems, and nothing else", (_name, after, expected) => {
  for (let seed = 1; seed <= 20; seed++) expect(found(chance(1_000 + seed), after, 48)).toEqual([...expected]);
});

test("what came back to normal is no finding any more, and too little says nothing", () => {
  const random = chance(7);
  const normal = normalFigures(hours(random, 0, 2 * WEEK, QUIET));
  const wave = [...hours(random, 2 * WEEK, 24, { errorRate: 0.3, cost: 1 }), ...hours(random, 2 * WEEK + 24, 2 * WEEK, QUIET)];
  expect(shiftsIn(wave.slice(0, 24), normal).map(({ metric }) => metric)).toEqual(["error_rate"]);
  expect(shiftsIn(wave, normal)).toEqual([]);
  expect(normalFigures(hours(random, 0, 5, QUIET))).toEqual({ cost: null, token_shape: null, error_rate: null });
  expect(shiftsIn(wave, { cost: null, token_shape: null, error_rate: null })).toEqual([]);
});

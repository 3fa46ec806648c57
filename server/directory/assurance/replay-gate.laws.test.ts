import { expect, test } from "bun:test";
import fc from "fast-check";
import { replayGateOf } from "./replay-gate.ts";
import { wilsonLower } from "./wilson-bound.ts";
import { stratified } from "./stratified-sample.ts";

const DAY_MS = 86_400_000;
const counts = fc.record({ passed: fc.nat(100), failed: fc.nat(20), flaky: fc.nat(20), errors: fc.nat(5), skipped: fc.nat(20) });
const facts = fc
  .tuple(counts, fc.double({ min: 0.5, max: 1, noNaN: true }), fc.nat(14), fc.boolean(), fc.nat(3), fc.nat(3))
  .map(([of, threshold, days, isNew, mustFailed, mustSkipped]) => ({
    suite: { threshold },
    contractDigest: "d",
    run: {
      id: "r",
      endedAt: 0,
      totals: {
        ...of,
        cases: of.passed + of.failed + of.flaky + of.errors + of.skipped,
        must_failed: Math.min(mustFailed, of.failed + of.flaky),
        must_skipped: Math.min(mustSkipped, of.skipped),
      },
    },
    newModels: isNew ? ["m (2)"] : [],
    now: days * DAY_MS,
  }));

test("a run that passes the replay gate meets every condition, and a run that fails gets a reason", () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { verdict, reasons, pass_rate: rate, coverage } = replayGateOf(given);
      expect(reasons.length > 0).toBe(verdict !== "passed");
      if (verdict !== "passed") return;
      const { totals } = given.run;
      expect([totals.must_failed, totals.must_skipped, given.newModels]).toEqual([0, 0, []]);
      expect(rate).toBeGreaterThanOrEqual(given.suite.threshold);
      expect(coverage).toBeGreaterThanOrEqual(0.8);
      expect(given.now).toBeLessThanOrEqual(7 * DAY_MS);
      expect(totals.errors).toBeLessThanOrEqual(0.02 * (totals.cases - totals.skipped));
    }),
    { numRuns: 20_000 },
  );
});

test("a case that fails instead of passing never makes the replay gate pass", () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { totals } = given.run;
      fc.pre(totals.passed > 0);
      const worse = { ...given, run: { ...given.run, totals: { ...totals, passed: totals.passed - 1, failed: totals.failed + 1 } } };
      if (replayGateOf(worse).verdict === "passed") expect(replayGateOf(given).verdict).toBe("passed");
    }),
    { numRuns: 20_000 },
  );
});

test("the lower bound of the pass rate matches published tables of the Wilson interval", () => {
  // Wilson's 95 % interval, calculated independently of this code.
  expect(wilsonLower(40, 40)).toBeCloseTo(0.9124, 3);
  expect(wilsonLower(95, 100)).toBeCloseTo(0.8882, 3);
  expect(wilsonLower(0, 0)).toBe(0);
});

test("a replay suite contains every stratum, and each request only once", () => {
  const many = Array.from({ length: 200 }, (_, i) => ({ stratum: "common", content: `c${i % 100}` }));
  const rare = [{ stratum: "rare", content: "r" }];
  const chosen = stratified([...many, ...rare], 10);
  expect(chosen.filter(({ stratum }) => stratum === "rare").length).toBe(1);
  expect(new Set(chosen.map(({ content }) => content)).size).toBe(10);
});

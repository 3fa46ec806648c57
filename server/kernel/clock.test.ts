import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { isoMicros, systemClock } from "./clock.ts";

afterEach(() => mock.restore());

/** Sets the wall clock by so many milliseconds. */
function step(ms: number): void {
  const at = performance.timeOrigin + ms;
  spyOn(Date, "now").mockImplementation(() => at + performance.now());
}

test("a wall clock that is set, or went on while the machine was suspended, is followed forwards and never back", () => {
  const clock = systemClock();
  const before = clock.micros();
  step(3_600_000);
  const ahead = clock.micros();
  expect(ahead - before).toBeWithin(3_600_000_000, 3_601_000_000);
  step(0);
  const after = clock.micros();
  expect(after - ahead).toBeWithin(1, 1_000_000);
});

test("what the two clocks tick apart moves no time", () => {
  const clock = systemClock();
  const before = clock.micros();
  step(500);
  expect(clock.micros() - before).toBeLessThan(100_000);
});

test("times of rows have six decimals", () => {
  expect([isoMicros(0), isoMicros(1_790_000_000_000_001)]).toEqual(["1970-01-01T00:00:00.000000Z", "2026-09-21T14:13:20.000001Z"]);
});

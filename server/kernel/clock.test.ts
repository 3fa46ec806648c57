import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { isoMicros, systemClock } from "./clock.ts";

afterEach(() => mock.restore());

/** Sets the wall clock this many milliseconds away from real time. */
function step(ms: number): void {
  const at = performance.timeOrigin + ms;
  spyOn(Date, "now").mockImplementation(() => at + performance.now());
}

test("a wall clock that jumps forward, as after a suspend, is followed at once", () => {
  const clock = systemClock();
  const before = clock.micros();
  step(3_600_000);
  const ahead = clock.micros();
  expect(ahead - before).toBeWithin(3_600_000_000, 3_601_000_000);
});

test("a wall clock that is set back is reported and followed slowly, and timestamps never decrease", () => {
  const told: string[] = [];
  const clock = systemClock({ setBack: (ms) => told.push(`back ${Math.round(ms / 1000)}`), caughtUp: () => told.push("caught up") });
  let steady = 0;
  let wall = 0;
  const origin = performance.timeOrigin;
  spyOn(performance, "now").mockImplementation(() => steady);
  spyOn(Date, "now").mockImplementation(() => origin + wall);
  const pass = (ms: number) => {
    steady += ms;
    wall += ms;
    return clock.micros() / 1000 - origin - wall;
  };
  wall += 3_600_000;
  expect(Math.abs(pass(0))).toBeLessThan(1);
  wall -= 3_600_000;
  expect(pass(0)).toBeWithin(3_599_999, 3_600_001);
  let last = 0;
  for (let hours = 0; hours < 9; hours++) {
    pass(3_600_000);
    expect(clock.micros()).toBeGreaterThan(last);
    last = clock.micros();
  }
  expect(told).toEqual(["back 3600"]);
  expect(pass(0)).toBeWithin(359_999, 360_001);
  pass(3_600_000);
  expect(Math.abs(pass(1))).toBeLessThan(1);
  expect(told).toEqual(["back 3600", "caught up"]);
});

test("small drift between the wall clock and the monotonic clock does not change timestamps", () => {
  const clock = systemClock();
  const before = clock.micros();
  step(500);
  expect(clock.micros() - before).toBeLessThan(100_000);
});

test("row timestamps have six decimals", () => {
  expect([isoMicros(0), isoMicros(1_790_000_000_000_001)]).toEqual(["1970-01-01T00:00:00.000000Z", "2026-09-21T14:13:20.000001Z"]);
});

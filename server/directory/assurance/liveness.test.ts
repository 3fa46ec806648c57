import { expect, test } from "bun:test";
import { driftSightings } from "./drift-sightings.ts";
import { livenessIn } from "./liveness.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-26T12:00:00Z");

/** A system called every `gap` hours for two weeks, and last called `silentFor` hours ago. */
function findingsOf(gap: number, silentFor: number) {
  const last = NOW - silentFor * HOUR;
  const hours = Array.from({ length: Math.floor((14 * 24) / gap) }, (_, at) => last - at * gap * HOUR).toReversed();
  const liveness = {
    ...{ ai_system_id: "one", controls: [], silent_for_seconds: (silentFor * HOUR) / 1000 },
    ...livenessIn(hours, last, NOW),
    last_call_at: new Date(last).toISOString(),
  };
  const sightings = driftSightings({
    ...{ observations: [], windows: [], contract: null, normal: null, shifts: [], liveness },
    now: new Date(NOW),
  });
  return [liveness.status, sightings.map(({ kind, severity }) => `${severity} ${kind}`)];
}

test.each([1, 3, 12])("an AI System called every %d hours is reported silent after six times that interval, and not before", (gap) => {
  expect(findingsOf(gap, gap)).toEqual(["live", []]);
  expect(findingsOf(gap, gap * 2)).toEqual(["quiet", []]);
  expect(findingsOf(gap, gap * 6)).toEqual(["stale", []]);
  expect(findingsOf(gap, gap * 6 + 0.01)).toEqual(["silent", ["high liveness"]]);
});

test("the liveness of an AI System with calls in few hours is unknown", () => {
  expect(findingsOf(24, 24 * 30)).toEqual(["unknown", []]);
});

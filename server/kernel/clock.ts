/** The one source of time. Injected, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Microseconds since the Unix epoch, never going backwards within a process. */
  micros(): number;
}

/** A wall clock that is ahead by more has been set, or the machine was suspended; by less, the two only tick apart. */
const STEPPED_MS = 1_000;

export function systemClock(): Clock {
  let origin = performance.timeOrigin;
  let last = 0;
  return {
    now: () => Date.now(),
    micros() {
      // The monotonic clock gives the microseconds, the wall clock the day: a stepped wall clock is followed forwards only.
      const steady = performance.now();
      const wall = Date.now();
      if (wall - origin - steady > STEPPED_MS) origin = wall - steady;
      const micros = Math.round((origin + steady) * 1000);
      last = micros > last ? micros : last + 1;
      return last;
    },
  };
}

let second = Number.NaN;
let untilSecond = "";

/** ISO 8601 UTC with exactly six decimals, the form audit timestamps have everywhere. */
export function isoMicros(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  if (seconds !== second) {
    untilSecond = new Date(seconds * 1000).toISOString().slice(0, 20);
    second = seconds;
  }
  return `${untilSecond}${String(1_000_000 + micros - seconds * 1_000_000).slice(1)}Z`;
}

/** The one source of time. Injected, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Microseconds since the Unix epoch, never going backwards within a process. */
  micros(): number;
}

export function systemClock(): Clock {
  let last = 0;
  return {
    now: () => Date.now(),
    micros() {
      // The monotonic clock gives the microseconds, the wall clock the day: a stepped wall clock is followed forwards only.
      const micros = Math.round((performance.timeOrigin + performance.now()) * 1000);
      last = micros > last ? micros : last + 1;
      return last;
    },
  };
}

/** ISO 8601 UTC with exactly six decimals, the form audit timestamps have everywhere. */
export function isoMicros(micros: number): string {
  const millis = Math.floor(micros / 1000);
  const rest = micros - millis * 1000;
  return `${new Date(millis).toISOString().slice(0, 23)}${String(rest).padStart(3, "0")}Z`;
}

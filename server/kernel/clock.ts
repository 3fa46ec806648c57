/** The one source of time, injected so that tests can control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Microseconds since the Unix epoch, strictly increasing within a process. */
  micros(): number;
}

/** A wall clock ahead by more than this was set, or the machine was suspended; smaller differences are drift. */
const STEPPED_MS = 1_000;
/** Slewing rate after the wall clock was set back: rows stay in order, and an hour is made up for in ten. */
const MADE_UP = 0.1;

export interface ClockWatch {
  /** The wall clock was set back: rows are dated `aheadMs` later than it says. */
  setBack(aheadMs: number): void;
  /** Row dates agree with the wall clock again. */
  caughtUp(): void;
}

export function systemClock(watch?: ClockWatch): Clock {
  let origin = performance.timeOrigin;
  let last = 0;
  /** When time was last slewed; null if the clocks agree. */
  let slowedAt: number | null = null;

  function makeUp(steady: number, ahead: number): void {
    if (slowedAt === null) watch?.setBack(ahead);
    else origin -= Math.min(ahead, (steady - slowedAt) * MADE_UP);
    slowedAt = steady;
  }

  return {
    now: () => Date.now(),
    micros() {
      // Microseconds come from the monotonic clock, the date from the wall clock. A wall clock set forwards is followed at once, one set
      // back only slowly, because no row may be dated before the previous one.
      const steady = performance.now();
      const wall = Date.now();
      const ahead = origin + steady - wall;
      if (ahead < -STEPPED_MS) origin = wall - steady;
      if (ahead > STEPPED_MS) makeUp(steady, ahead);
      else if (slowedAt !== null) {
        slowedAt = null;
        watch?.caughtUp();
      }
      const micros = Math.round((origin + steady) * 1000);
      last = micros > last ? micros : last + 1;
      return last;
    },
  };
}

let second = Number.NaN;
let untilSecond = "";

/** ISO 8601 UTC with exactly six decimals, the form of all audit timestamps. */
export function isoMicros(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  if (seconds !== second) {
    untilSecond = new Date(seconds * 1000).toISOString().slice(0, 20);
    second = seconds;
  }
  return `${untilSecond}${String(1_000_000 + micros - seconds * 1_000_000).slice(1)}Z`;
}

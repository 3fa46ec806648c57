/** The one source of time. Injected, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Microseconds since the Unix epoch, never going backwards within a process. */
  micros(): number;
}

/** A wall clock that is ahead by more has been set, or the machine was suspended; by less, the two only tick apart. */
const STEPPED_MS = 1_000;
/** Of what passes, while rows are dated ahead of a wall clock that was set back: their order stays, and an hour is made up for in ten. */
const MADE_UP = 0.1;

export interface ClockWatch {
  /** The wall clock was set back: rows are dated so much later than it says. */
  setBack(aheadMs: number): void;
  /** That is over. */
  caughtUp(): void;
}

export function systemClock(watch?: ClockWatch): Clock {
  let origin = performance.timeOrigin;
  let last = 0;
  /** When time was last made up for; null while there is none to make up for. */
  let slowedAt: number | null = null;

  function makeUp(steady: number, ahead: number): void {
    if (slowedAt === null) watch?.setBack(ahead);
    else origin -= Math.min(ahead, (steady - slowedAt) * MADE_UP);
    slowedAt = steady;
  }

  return {
    now: () => Date.now(),
    micros() {
      // The monotonic clock gives the microseconds, the wall clock the day: one that is set forwards is followed at once, one that is set
      // back slowly, since no row may be dated before the one before it.
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

/** ISO 8601 UTC with exactly six decimals, the form audit timestamps have everywhere. */
export function isoMicros(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  if (seconds !== second) {
    untilSecond = new Date(seconds * 1000).toISOString().slice(0, 20);
    second = seconds;
  }
  return `${untilSecond}${String(1_000_000 + micros - seconds * 1_000_000).slice(1)}Z`;
}
